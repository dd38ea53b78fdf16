import ICAL from 'ical.js'
import type { Charset } from '#shared/features/calendar/ics/charset.ts'
import type { Jcal, JcalProperty } from '#shared/features/calendar/ics/jcal.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** A component as the file writes it: its name, the number of its first line, and its unfolded lines without BEGIN and END. */
export interface RawComponent {
  readonly name: string
  readonly line: number
  readonly lines: readonly string[]
  /** The syntax error that keeps it from being read. */
  readonly fault?: string
}

/** A calendar of a file: the components directly inside it. */
export interface RawCalendar {
  readonly components: readonly RawComponent[]
  /** Properties of the calendar itself, such as X-WR-TIMEZONE and METHOD. */
  readonly properties: readonly string[]
}

/** The longest unfolded line that is read, in bytes. A longer one is an attachment or an attack and is left out. */
const maxLineBytes = 200_000
/** Lines of one component. A component with more is not read. */
const maxLines = 20_000

/**
 * Splits a file into components without reading values, so that a bad event does not affect the others. Throws VALIDATION_ERROR when the
 * file holds no calendar, or one that is not closed, and for bytes that are invalid in its charset (`charsetOf`). Memory is that of the
 * file, and each byte is read a few times.
 */
export function splitCalendars(bytes: Uint8Array, charset: Charset): RawCalendar[] {
  const calendars: { components: RawComponent[]; properties: string[] }[] = []
  let isOpen = false
  let open: { name: string; line: number; lines: string[]; depth: string[]; fault?: string } | undefined
  const close = (isEnded = false) => {
    if (open) calendars.at(-1)?.components.push(isEnded && !open.fault ? open : { ...open, fault: open.fault ?? 'is not closed' })
    open = undefined
  }
  for (const { line, number } of unfoldLines(charset.asAsciiSuperset(bytes), charset)) {
    const [, marker = '', component = ''] = /^(BEGIN|END)\s*:\s*([\w-]{1,60})\s*$/i.exec(line) ?? []
    const [keyword, name] = [marker.toUpperCase(), component.toUpperCase()]
    if (name === 'VCALENDAR' && keyword === 'BEGIN') {
      if (isOpen) throw problem('VALIDATION_ERROR', `line ${number}: the previous calendar is not closed`)
      calendars.push({ components: [], properties: [] })
      isOpen = true
    } else if (name === 'VCALENDAR' && keyword === 'END') {
      close()
      isOpen = false
    } else if (!isOpen) {
      // Lines outside a calendar are ignored.
    } else if (!open) {
      if (keyword === 'BEGIN') open = { name, line: number, lines: [], depth: [] }
      else if (line !== '') calendars.at(-1)?.properties.push(line)
    } else if (keyword === 'END' && open.depth.length === 0 && name === open.name) close(true)
    else if (keyword === 'BEGIN' && name === open.name && name === 'VEVENT') {
      close()
      open = { name, line: number, lines: [], depth: [] }
    } else {
      if (keyword === 'BEGIN') open.depth.push(name)
      if (keyword === 'END' && open.depth.pop() !== name) open.fault ??= `line ${number}: END:${name} has no BEGIN`
      if (open.lines.length < maxLines) open.lines.push(line)
      else open.fault ??= `has more than ${maxLines} lines`
    }
  }
  if (calendars.length === 0) throw problem('VALIDATION_ERROR', 'file holds no VCALENDAR')
  if (isOpen) throw problem('VALIDATION_ERROR', 'the VCALENDAR is not closed')
  return calendars
}

/**
 * The unfolded lines of a file, each with the number of its first line. Files fold lines by bytes, even within a character (RFC 5545, 3.1),
 * so lines are joined as Latin-1, one character per byte, and then decoded.
 */
function* unfoldLines(bytes: Uint8Array, charset: Charset): Generator<{ line: string; number: number }> {
  let parts: string[] = []
  let [number, started, length] = [0, 0, 0]
  const whole = () => ({ line: length > maxLineBytes ? '' : charset.decodeLine(parts.join(''), started), number: started })
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  for (const raw of text.replace(/^\u00ef\u00bb\u00bf/, '').split(/\r\n|\n|\r/)) {
    number += 1
    if (/^[ \t]/.test(raw) && parts.length > 0) {
      length += raw.length
      if (length <= maxLineBytes) parts.push(raw.slice(1))
      continue
    }
    if (parts.length > 0) yield whole()
    parts = [raw]
    started = number
    length = raw.length
  }
  if (parts.length > 0) yield whole()
}

/**
 * Parses one component without its rules: ical.js refuses a whole component for a rule in lowercase or with a blank. `rawValue` returns
 * rules as written, and ical.js neither parses nor expands them. Throws an Error that says what cannot be read.
 */
export function parseComponent({ name, lines, fault }: RawComponent): Jcal {
  if (fault) throw new Error(fault)
  const readLines = lines.filter((line) => line.trim() !== '' && !/^(?:RRULE|EXRULE)[;:]/i.test(line))
  const text = [`BEGIN:${name}`, ...readLines, `END:${name}`].join('\r\n')
  const parsed = ICAL.parse(text) as unknown
  if (!Array.isArray(parsed) || parsed[0] !== name.toLowerCase()) throw new Error('cannot be read')
  return parsed as unknown as Jcal
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
