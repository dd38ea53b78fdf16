import ICAL from 'ical.js'
import type { Charset } from '#shared/features/calendar/ics/charset.ts'
import type { Jcal, JcalProperty } from '#shared/features/calendar/ics/jcal.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** A component as the file writes it: its name, the number of its first line, and its unfolded lines without BEGIN and END. */
export interface RawComponent {
  readonly name: string
  readonly line: number
  readonly lines: readonly string[]
  /** The syntax error that keeps it from being read. */
  readonly fault?: string
}

/** A calendar of a file: its events and zones. */
export interface RawCalendar {
  readonly components: readonly RawComponent[]
  /** METHOD and X-WR-TIMEZONE lines of the calendar itself. */
  readonly properties: readonly string[]
  /** Names of other components, of which nothing is read. */
  readonly otherNames: ReadonlySet<string>
}

/** The longest unfolded line that is read, in bytes. A longer one is an attachment or an attack and is left out. */
const maxLineBytes = 200_000
/** Lines of one component. A component with more is not read. */
const maxLines = 20_000
/** Events that one file may hold (docs/contract/calendar.md#import). */
export const maxEvents = 2_000
/** Names of other components that are kept for a warning. */
const maxOtherNames = 10
/** Lines as written, and bytes, that are read between two pauses; they take under 5 ms. */
const [linesPerPause, bytesPerPause] = [2_000, 1_000_000]
/** Steps of these lines or bytes. */
const stepsPerPause = 500

/** Components that are read. */
const readNames: ReadonlySet<string> = new Set(['VEVENT', 'VTIMEZONE'])

interface OpenCalendar extends RawCalendar {
  readonly components: RawComponent[]
  readonly properties: string[]
  readonly otherNames: Set<string>
}

interface OpenComponent {
  readonly name: string
  readonly line: number
  readonly lines: string[]
  readonly depth: string[]
  fault?: string
}

/**
 * Splits a file into components without reading values, so that a bad event does not affect the others. Throws VALIDATION_ERROR when the
 * file holds no calendar, one that is not closed, or more than 2,000 events, and for bytes that are invalid in its charset (`charsetOf`).
 * Memory is that of the file, and each byte is read a few times.
 */
export async function splitCalendars(bytes: Uint8Array, charset: Charset, budget: ComputeBudget): Promise<RawCalendar[]> {
  const calendars: OpenCalendar[] = []
  let isOpen = false
  let open: OpenComponent | undefined
  let events = 0
  const start = (name: string, line: number) => {
    events += name === 'VEVENT' ? 1 : 0
    if (events > maxEvents) throw problem('VALIDATION_ERROR', `file must hold at most ${maxEvents} events`)
    open = { name, line, lines: [], depth: [] }
  }
  const close = (isEnded = false) => {
    const calendar = calendars.at(-1)
    if (!open || !calendar) return
    if (readNames.has(open.name)) {
      calendar.components.push(isEnded && !open.fault ? open : { ...open, fault: open.fault ?? 'is not closed' })
    } else if (calendar.otherNames.size < maxOtherNames) calendar.otherNames.add(open.name)
    open = undefined
  }
  for (const read of unfoldLines(charset.asAsciiSuperset(bytes), charset)) {
    if (read === undefined) {
      budget.takeSteps(stepsPerPause)
      await budget.pause()
      continue
    }
    const { line, number } = read
    const [, marker = '', component = ''] = markerPattern.exec(line) ?? []
    const [keyword, name] = [marker.toUpperCase(), component.toUpperCase()]
    if (name === 'VCALENDAR' && keyword === 'BEGIN') {
      if (isOpen) throw problem('VALIDATION_ERROR', `line ${number}: the previous calendar is not closed`)
      calendars.push({ components: [], properties: [], otherNames: new Set() })
      isOpen = true
    } else if (name === 'VCALENDAR' && keyword === 'END') {
      close()
      isOpen = false
    } else if (!isOpen) {
      // Lines outside a calendar are ignored.
    } else if (!open) {
      if (keyword === 'BEGIN') start(name, number)
      else if (/^(?:METHOD|X-WR-TIMEZONE)[;:]/i.test(line)) calendars.at(-1)?.properties.push(line)
    } else if (keyword === 'END' && open.depth.length === 0 && name === open.name) close(true)
    else if (keyword === 'BEGIN' && name === open.name && name === 'VEVENT') {
      close()
      start(name, number)
    } else if (readNames.has(open.name)) addLine(open, { line, number, keyword, name })
    else if (keyword === 'BEGIN') open.depth.push(name)
    else if (keyword === 'END') open.depth.pop()
  }
  if (calendars.length === 0) throw problem('VALIDATION_ERROR', 'file holds no VCALENDAR')
  if (isOpen) throw problem('VALIDATION_ERROR', 'the VCALENDAR is not closed')
  return calendars
}

const markerPattern = /^(BEGIN|END)\s*:\s*([\w-]{1,60})\s*$/i

interface ReadLine {
  readonly line: string
  readonly number: number
  readonly keyword: string
  readonly name: string
}

/** Adds a line to an open component. */
function addLine(open: OpenComponent, { line, number, keyword, name }: ReadLine): void {
  if (keyword === 'BEGIN') open.depth.push(name)
  if (keyword === 'END' && open.depth.pop() !== name) open.fault ??= `line ${number}: END:${name} has no BEGIN`
  if (open.lines.length < maxLines) open.lines.push(line)
  else open.fault ??= `has more than ${maxLines} lines`
}

/**
 * The unfolded lines of a file, each with the number of its first line, and undefined after every `linesPerPause` lines as
 * written and `bytesPerPause` bytes. Files fold lines by bytes, even within a character (RFC 5545, 3.1), so lines are joined as Latin-1, one character per byte, and then decoded.
 * A line ends with CRLF, LF or CR.
 */
function* unfoldLines(bytes: Uint8Array, charset: Charset): Generator<{ line: string; number: number } | undefined> {
  let parts: string[] = []
  let [number, started, length] = [0, 0, 0]
  const whole = () => ({ line: length > maxLineBytes ? '' : charset.decodeLine(parts.join(''), started), number: started })
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0; at <= file.length; ) {
    let end = at
    while (end < file.length && file[end] !== lineFeed && file[end] !== carriageReturn) {
      end += 1
      if (end % bytesPerPause === 0) yield undefined
    }
    number += 1
    if (number % linesPerPause === 0) yield undefined
    if ((file[at] === space || file[at] === tab) && parts.length > 0) {
      length += end - at
      if (length <= maxLineBytes) parts.push(file.toString('latin1', at + 1, end))
    } else {
      if (parts.length > 0) yield whole()
      length = end - at
      parts = [length > maxLineBytes ? '' : file.toString('latin1', at, end)]
      started = number
    }
    at = end + (file[end] === carriageReturn && file[end + 1] === lineFeed ? 2 : 1)
  }
  if (parts.length > 0) yield whole()
}

const [tab, lineFeed, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20]

/**
 * Parses one component without its rules: ical.js refuses a whole component for a rule in lowercase or with a blank. `rawValue` returns
 * rules as written, and ical.js neither parses nor expands them. Throws an Error that says what cannot be read. Pauses between parts, since
 * ical.js takes 100 ms for the longest component.
 */
export async function parseComponent({ name, lines, fault }: RawComponent, budget: ComputeBudget): Promise<Jcal> {
  if (fault) throw new Error(fault)
  const [properties, components]: [JcalProperty[], Jcal[]] = [[], []]
  for (const part of partsOf(lines)) {
    const readLines = part.filter((line) => line.trim() !== '' && !/^(?:RRULE|EXRULE)[;:]/i.test(line))
    const parsed = ICAL.parse([`BEGIN:${name}`, ...readLines, `END:${name}`].join('\r\n')) as unknown
    if (!Array.isArray(parsed) || parsed[0] !== name.toLowerCase()) throw new Error('cannot be read')
    const [, ownProperties, ownComponents] = parsed as unknown as Jcal
    for (const one of ownProperties) properties.push(one)
    for (const one of ownComponents) components.push(one)
    await budget.pause()
  }
  return [name.toLowerCase(), properties, components]
}

/** Size of a part of a component that is parsed in one go, in lines and bytes; it takes under 5 ms. */
const [maxPartLines, maxPartBytes] = [500, 200_000]

/** Cuts the lines of a component into parts. A component inside it stays whole. */
function partsOf(lines: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  let [depth, bytes] = [0, 0]
  for (const line of lines) {
    const part = parts.at(-1) as string[]
    part.push(line)
    bytes += line.length
    if (/^BEGIN\s*:/i.test(line)) depth += 1
    if (/^END\s*:/i.test(line)) depth -= 1
    if (depth > 0 || (part.length < maxPartLines && bytes < maxPartBytes)) continue
    parts.push([])
    bytes = 0
  }
  return parts
}

/** The first property of a name. */
export const property = ([, properties]: Jcal, name: string): JcalProperty | undefined => properties.find(([own]) => own === name)

/** All properties of a name. */
export const propertiesOf = ([, properties]: Jcal, name: string): JcalProperty[] => properties.filter(([own]) => own === name)

/** The text of a property's first value; empty when the property is missing. */
export function textOf(component: Jcal, name: string): string {
  const [, , , value] = property(component, name) ?? []
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : typeof first === 'number' ? String(first) : ''
}

/** The values of a property as the component writes them, without nested components. Used for rules, which are stored as text. */
export function rawValue({ lines }: RawComponent, name: string): string[] {
  const pattern = new RegExp(`^${name}(?:;[^:"]*(?:"[^"]*"[^:"]*)*)?:(.*)$`, 'i')
  let depth = 0
  return lines.flatMap((line) => {
    if (/^BEGIN\s*:/i.test(line)) depth += 1
    if (/^END\s*:/i.test(line)) depth -= 1
    const [, value] = depth === 0 ? (pattern.exec(line) ?? []) : []
    return value === undefined ? [] : [value.trim()]
  })
}
