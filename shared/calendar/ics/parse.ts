import ICAL from 'ical.js'
import type { Jcal, JcalProperty } from '#shared/calendar/ics/jcal.ts'
import type { RawComponent } from '#shared/calendar/ics/lines.ts'

/**
 * Reads the values of one component but for its rules: `rawValue` gives these as they are written, and the parser refuses a whole component
 * for a rule in small letters or with a blank. Throws an Error that says what cannot be read. ical.js parses and expands nothing here.
 */
export function parseComponent({ name, lines, fault }: RawComponent): Jcal {
  if (fault) throw new Error(fault)
  const read = lines.filter((line) => line.trim() !== '' && !/^(?:RRULE|EXRULE)[;:]/i.test(line))
  const text = [`BEGIN:${name}`, ...read, `END:${name}`].join('\r\n')
  const parsed = ICAL.parse(text) as unknown
  if (!Array.isArray(parsed) || parsed[0] !== name.toLowerCase()) throw new Error('cannot be read')
  return parsed as unknown as Jcal
}

/** The first property of a name. */
export const property = ([, properties]: Jcal, name: string): JcalProperty | undefined => properties.find(([own]) => own === name)

/** All properties of a name. */
export const propertiesOf = ([, properties]: Jcal, name: string): JcalProperty[] => properties.filter(([own]) => own === name)

/** The text of a property, empty without one; of several values the first. */
export function textOf(component: Jcal, name: string): string {
  const [, , , value] = property(component, name) ?? []
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : typeof first === 'number' ? String(first) : ''
}

/** The value of a property as it is written, from the component's lines: for rules, which are kept in their own words. */
export function rawValue({ lines }: RawComponent, name: string): string[] {
  const form = new RegExp(`^${name}(?:;[^:"]*(?:"[^"]*"[^:"]*)*)?:(.*)$`, 'i')
  let depth = 0
  return lines.flatMap((line) => {
    if (/^BEGIN\s*:/i.test(line)) depth += 1
    if (/^END\s*:/i.test(line)) depth -= 1
    const [, value] = depth === 0 ? (form.exec(line) ?? []) : []
    return value === undefined ? [] : [value.trim()]
  })
}
