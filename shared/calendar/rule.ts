import { problem } from '#shared/kernel/errors.ts'
import { isDay } from '#shared/kernel/instant.ts'

/** A repeat rule by its parts (RFC 5545, 3.3.10), each as its text in capitals. */
export type RuleParts = ReadonlyMap<string, string>

const maxLength = 500
/** A day has so many starts at most: what BYHOUR, BYMINUTE and BYSECOND name together (decisions, Calendar). */
const maxStartsADay = 24

const list = (item: string) => new RegExp(`^${item}(?:,${item})*$`)
const weekday = '(?:MO|TU|WE|TH|FR|SA|SU)'

const grammar: Readonly<Record<string, RegExp>> = {
  FREQ: /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/,
  INTERVAL: /^0*[1-9]\d{0,5}$/,
  COUNT: /^0*[1-9]\d{0,8}$/,
  UNTIL: /^\d{8}(?:T\d{6}Z?)?$/,
  WKST: new RegExp(`^${weekday}$`),
  BYDAY: list(`(?:[+-]?(?:[1-9]|[1-4]\\d|5[0-3]))?${weekday}`),
  BYMONTH: list('(?:0?[1-9]|1[0-2])'),
  BYMONTHDAY: list('[+-]?(?:0?[1-9]|[12]\\d|3[01])'),
  BYYEARDAY: list('[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYWEEKNO: list('[+-]?(?:0?[1-9]|[1-4]\\d|5[0-3])'),
  BYSETPOS: list('[+-]?(?:[1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYHOUR: list('(?:[01]?\\d|2[0-3])'),
  BYMINUTE: list('[0-5]?\\d'),
  BYSECOND: list('[0-5]?\\d'),
}

/** The rule that a caller or a file gives, as it is kept: without its prefix. Throws VALIDATION_ERROR that says what is wrong with it. */
export function readRule(text: string): string {
  if (text.length > maxLength) throw refusal(`must have at most ${maxLength} characters`)
  const rule = text
    .trim()
    .replace(/^RRULE:/i, '')
    .replace(/;$/, '')
    .toUpperCase()
  const parts = partsOf(rule)
  for (const [name, value] of parts) {
    const form = Object.hasOwn(grammar, name) ? grammar[name] : undefined
    if (!form) throw refusal(`has no part ${name.slice(0, 40)}`)
    if (!form.test(value)) throw refusal(name === 'FREQ' ? 'must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY' : `has no such ${name}`)
  }
  if (!parts.has('FREQ')) throw refusal('must have FREQ=DAILY, WEEKLY, MONTHLY or YEARLY')
  if (parts.has('COUNT') && parts.has('UNTIL')) throw refusal('must not have both COUNT and UNTIL')
  checkCombinations(parts)
  return rule
}

function checkCombinations(parts: RuleParts): void {
  const until = parts.get('UNTIL')
  if (until !== undefined && !isDay(until.slice(0, 8).replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'))) throw refusal('has no such UNTIL')
  const startsADay = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].reduce((count, name) => count * new Set(valuesOf(parts, name)).size, 1)
  if (startsADay > maxStartsADay) throw refusal(`may name ${maxStartsADay} starts a day at most by BYHOUR, BYMINUTE and BYSECOND`)
}

const valuesOf = (parts: RuleParts, name: string): string[] => (parts.get(name) ?? '0').split(',').map((value) => String(Number(value)))

const refusal = (reason: string) => problem('VALIDATION_ERROR', `recurrence ${reason}`)

/** The parts of a rule as it is kept. Throws VALIDATION_ERROR for a part that is none, or that comes twice. */
export function partsOf(rule: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of rule.split(';')) {
    const [, name, value] = /^([A-Z-]+)=(.+)$/.exec(part) ?? []
    if (name === undefined || value === undefined) throw refusal('must be parts such as FREQ=WEEKLY;BYDAY=MO')
    if (parts.has(name)) throw refusal(`has ${name} twice`)
    parts.set(name, value)
  }
  return parts
}

/** A rule of parts; one that is undefined is left out. */
export const ruleOf = (parts: RuleParts, changed: Readonly<Record<string, string | undefined>> = {}): string =>
  [...new Map([...parts, ...Object.entries(changed)])]
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .join(';')
