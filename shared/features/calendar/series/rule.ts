import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/** Parts of a repeat rule by name (RFC 5545, 3.3.10), in capitals. */
export type RuleParts = ReadonlyMap<string, string>

const maxLength = 500
/** Upper bound of starts a day, the product of BYHOUR, BYMINUTE and BYSECOND (docs/contract/calendar.md#repeat-rules). */
const maxStartsADay = 24

const listPattern = (item: string) => new RegExp(`^${item}(?:,${item})*$`)
const weekday = '(?:MO|TU|WE|TH|FR|SA|SU)'

const patterns: Readonly<Record<string, RegExp>> = {
  FREQ: /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/,
  INTERVAL: /^0*[1-9]\d{0,5}$/,
  COUNT: /^0*[1-9]\d{0,8}$/,
  UNTIL: /^\d{8}(?:T\d{6}Z?)?$/,
  WKST: new RegExp(`^${weekday}$`),
  BYDAY: listPattern(`(?:[+-]?(?:[1-9]|[1-4]\\d|5[0-3]))?${weekday}`),
  BYMONTH: listPattern('(?:0?[1-9]|1[0-2])'),
  BYMONTHDAY: listPattern('[+-]?(?:0?[1-9]|[12]\\d|3[01])'),
  BYYEARDAY: listPattern('[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYWEEKNO: listPattern('[+-]?(?:0?[1-9]|[1-4]\\d|5[0-3])'),
  BYSETPOS: listPattern('[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYHOUR: listPattern('(?:[01]?\\d|2[0-3])'),
  BYMINUTE: listPattern('[0-5]?\\d'),
  BYSECOND: listPattern('[0-5]?\\d'),
}

/** Validates a rule from a request or a file and returns the stored form: in capitals, without `RRULE:`. Throws VALIDATION_ERROR. */
export function readRule(text: string): string {
  if (text.length > maxLength) throw invalidRule(`must have at most ${maxLength} characters`)
  const rule = text
    .trim()
    .replace(/^RRULE:/i, '')
    .replace(/;$/, '')
    .toUpperCase()
  const parts = rulePartsOf(rule)
  for (const [name, value] of parts) {
    const pattern = Object.hasOwn(patterns, name) ? patterns[name] : undefined
    if (!pattern) throw invalidRule(`must not have the part ${name.slice(0, 40)}`)
    if (!pattern.test(value))
      throw invalidRule(name === 'FREQ' ? 'must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY' : `has an invalid value of ${name}`)
  }
  if (!parts.has('FREQ')) throw invalidRule('must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY')
  if (parts.has('COUNT') && parts.has('UNTIL')) throw invalidRule('must not have both COUNT and UNTIL')
  checkCombinations(parts)
  return rule
}

function checkCombinations(parts: RuleParts): void {
  const until = parts.get('UNTIL')
  if (until !== undefined && !isDay(until.slice(0, 8).replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3')))
    throw invalidRule('must have a valid date in UNTIL')
  const startsADay = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].reduce((count, name) => count * new Set(valuesOf(parts, name)).size, 1)
  if (startsADay > maxStartsADay) throw invalidRule(`must have at most ${maxStartsADay} starts a day by BYHOUR, BYMINUTE and BYSECOND`)
}

const valuesOf = (parts: RuleParts, name: string): string[] => (parts.get(name) ?? '0').split(',').map((value) => String(Number(value)))

const invalidRule = (reason: string) => problem('VALIDATION_ERROR', `recurrence ${reason}`)

/** The parts of a stored rule. Throws VALIDATION_ERROR for a malformed or repeated part. */
export function rulePartsOf(rule: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of rule.split(';')) {
    const [, name, value] = /^([A-Z-]+)=(.+)$/.exec(part) ?? []
    if (name === undefined || value === undefined) throw invalidRule('must be parts such as FREQ=WEEKLY;BYDAY=MO')
    if (parts.has(name)) throw invalidRule(`has ${name} twice`)
    parts.set(name, value)
  }
  return parts
}

/** Joins parts to a rule. `changed` replaces parts; undefined removes one. */
export const ruleText = (parts: RuleParts, changed: Readonly<Record<string, string | undefined>> = {}): string =>
  [...new Map([...parts, ...Object.entries(changed)])]
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(';')
