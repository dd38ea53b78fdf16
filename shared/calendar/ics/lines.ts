import { problem } from '#shared/kernel/errors.ts'

/** A component as it stands in a file: its name, the line on which it begins, and its lines, unfolded, without BEGIN and END. */
export interface RawComponent {
  readonly name: string
  readonly line: number
  readonly lines: readonly string[]
  /** What is wrong with how it is written. */
  readonly fault?: string
}

/** A file's calendars: what stands right below them. */
export interface RawFile {
  readonly components: readonly RawComponent[]
  /** Properties of the calendars themselves, such as X-WR-TIMEZONE. */
  readonly properties: readonly string[]
}

/** The longest line that is looked at, unfolded, in bytes; a longer one is an attachment or an attack, and is left out. */
const longestLine = 200_000
/** Lines of one component; one that has more is not read. */
const mostLines = 20_000

/**
 * Splits a file into components without reading values, so that one bad event spoils no other. Throws VALIDATION_ERROR when it holds no
 * calendar, or one that is not closed. It holds as much as the file, and looks at each byte a few times.
 */
export function takeApart(bytes: Uint8Array): RawFile {
  const components: RawComponent[] = []
  const properties: string[] = []
  let calendars = 0
  let isOpen = false
  let open: { name: string; line: number; lines: string[]; depth: string[]; fault?: string } | undefined
  const close = (isEnded = false) => {
    if (open) components.push(isEnded && !open.fault ? open : { ...open, fault: open.fault ?? 'is not closed' })
    open = undefined
  }
  for (const { line, number } of unfolded(bytes)) {
    const [, word = '', name = ''] = /^(BEGIN|END)\s*:\s*([\w-]{1,60})\s*$/i.exec(line) ?? []
    const [is, what] = [word.toUpperCase(), name.toUpperCase()]
    if (what === 'VCALENDAR' && is === 'BEGIN') {
      if (isOpen) throw problem('VALIDATION_ERROR', `line ${number}: the calendar before is not closed`)
      calendars += 1
      isOpen = true
    } else if (what === 'VCALENDAR' && is === 'END') {
      close()
      isOpen = false
    } else if (!isOpen) {
      // Nothing outside a calendar counts.
    } else if (!open) {
      if (is === 'BEGIN') open = { name: what, line: number, lines: [], depth: [] }
      else if (line !== '') properties.push(line)
    } else if (is === 'END' && open.depth.length === 0 && what === open.name) close(true)
    else if (is === 'BEGIN' && what === open.name && what === 'VEVENT') {
      close()
      open = { name: what, line: number, lines: [], depth: [] }
    } else {
      if (is === 'BEGIN') open.depth.push(what)
      if (is === 'END' && open.depth.pop() !== what) open.fault ??= `line ${number}: END:${what} ends nothing`
      if (open.lines.length < mostLines) open.lines.push(line)
      else open.fault ??= `has more than ${mostLines} lines`
    }
  }
  if (calendars === 0) throw problem('VALIDATION_ERROR', 'file holds no VCALENDAR')
  if (isOpen) throw problem('VALIDATION_ERROR', 'the VCALENDAR is not closed')
  return { components, properties }
}

/**
 * The unfolded lines of a file, each with the number of its first one. Lines are folded by bytes, also within a letter (RFC 5545, 3.1), so they
 * are joined as bytes, one character each, and read as UTF-8 after that.
 */
function* unfolded(bytes: Uint8Array): Generator<{ line: string; number: number }> {
  let parts: string[] = []
  let [number, started, length] = [0, 0, 0]
  const whole = () => ({ line: length > longestLine ? '' : utf8(parts.join('')), number: started })
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  for (const raw of text.replace(/^\u00ef\u00bb\u00bf/, '').split(/\r\n|\n|\r/)) {
    number += 1
    if (/^[ \t]/.test(raw) && parts.length > 0) {
      length += raw.length
      if (length <= longestLine) parts.push(raw.slice(1))
      continue
    }
    if (parts.length > 0) yield whole()
    parts = [raw]
    started = number
    length = raw.length
  }
  if (parts.length > 0) yield whole()
}

/** Text whose bytes stand as one character each. */
const utf8 = (bytes: string): string => (/[\u0080-\u00ff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes)
