import ICAL from 'ical.js'
import type { RawComponent } from '#shared/features/calendar/ics/components.ts'
import type { Jcal, JcalProperty } from '#shared/features/calendar/ics/jcal.ts'

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
