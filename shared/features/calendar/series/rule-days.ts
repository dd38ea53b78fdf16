import rrule from 'rrule'
import type { RuleParts } from '#shared/features/calendar/series/rule.ts'
import { weekdayFromMonday } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** Takes steps from a budget. Throws when the budget has fewer left. */
export type TakeSteps = (steps: number) => void

/** Steps of a year with cached days, and of one that the library computes (0.02 to 0.3 ms). */
const [cachedSteps, newSteps] = [5, 100]

/** Rule parts that select days of a year. */
const dayParts = ['BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYDAY'] as const
export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
const everyWeekday = weekdays.join()
const everyMonth = '1,2,3,4,5,6,7,8,9,10,11,12'

export const weekdayNumber = (name: string): number => Math.max(0, weekdays.indexOf(name as (typeof weekdays)[number]))

/**
 * Rewrites a rule to the parts of a yearly rule that selects its days, for `daysOfYear`. Weeks of the year become
 * `WEEKS=<numbers>@<first day>`. The caller applies INTERVAL, BYSETPOS and times of day. Parts that the rule leaves open come from its
 * first day, in days since 1970 (RFC 5545, 3.3.10).
 */
export function dayFilter(rule: RuleParts, firstDay: number): string {
  const freq = rule.get('FREQ')
  const parts = new Map(dayParts.flatMap((name) => (rule.has(name) ? [[name as string, rule.get(name) as string]] : [])))
  const first = new Date(firstDay * dayMs)
  const isOpen = !parts.has('BYDAY') && !parts.has('BYMONTHDAY') && !parts.has('BYYEARDAY')
  if (isOpen && freq === 'DAILY') parts.set('BYDAY', everyWeekday)
  else if (isOpen && (freq === 'WEEKLY' || parts.has('BYWEEKNO'))) parts.set('BYDAY', weekdays[weekdayFromMonday(firstDay)] as string)
  else if (isOpen) {
    parts.set('BYMONTHDAY', String(first.getUTCDate()))
    if (freq === 'YEARLY' && !parts.has('BYMONTH')) parts.set('BYMONTH', String(first.getUTCMonth() + 1))
  }
  // The number of `1MO`, the first Monday, counts in a month or year. In a week or a day it has no meaning.
  if (freq === 'MONTHLY' && !parts.has('BYMONTH')) parts.set('BYMONTH', everyMonth)
  if (freq === 'DAILY' || freq === 'WEEKLY') parts.set('BYDAY', (parts.get('BYDAY') ?? everyWeekday).replaceAll(/[+-]?\d+/g, ''))
  else if (parts.has('BYDAY')) parts.set('BYDAY', withUniformWeekdays(parts.get('BYDAY') as string, parts.has('BYMONTH') ? 5 : 53))
  const weeks = parts.get('BYWEEKNO')
  parts.delete('BYWEEKNO')
  const plain = [...parts].map(([name, value]) => `${name}=${value}`).join(';')
  return weeks === undefined ? plain : `${plain};WEEKS=${weeks}@${weekdayNumber(rule.get('WKST') ?? 'MO')}`
}

/**
 * Whether a day is in one of the weeks of its year; negative numbers count from the end. A week belongs to the year of its fourth day
 * (RFC 5545, 3.3.10). Computed here because the library returns a wrong week in January for the last one (7 of 100 years) and misses
 * -52 and -53.
 */
function isInWeeks(day: number, weeks: readonly number[], weekStart: number): boolean {
  const fourth = day - ((weekdayFromMonday(day) - weekStart + 7) % 7) + 3
  const year = new Date(fourth * dayMs).getUTCFullYear()
  const index = fourth - Date.UTC(year, 0, 1) / dayMs
  const number = Math.floor(index / 7) + 1
  const last = Math.floor((Date.UTC(year + 1, 0, 1) / dayMs - Date.UTC(year, 0, 1) / dayMs - 1 - (index % 7)) / 7) + 1
  return weeks.includes(number) || weeks.includes(number - last - 1)
}

/** Expands plain weekdays beside numbered ones to all their numbers: the library reads `MO,1TU` as days that are both. */
function withUniformWeekdays(list: string, maxNumber: number): string {
  if (!/\d/.test(list)) return list
  const numbered = (day: string) => Array.from({ length: maxNumber }, (_, index) => `${index + 1}${day}`)
  return list
    .split(',')
    .flatMap((day) => (/\d/.test(day) ? [day] : numbered(day)))
    .join()
}

const cachedDays = new Map<string, Uint16Array>()
/** Upper bound of cached years, at most 732 bytes each. The oldest is evicted first. */
const maxCachedYears = 5_000

/**
 * The days of a year that a filter of `dayFilter` selects; 0 is the first of January. A year that is not cached takes one call to the
 * library. Without a match the library searches to the year 9999; an interval of 10,000 years stops it after the first year.
 */
export function daysOfYear(filter: string, year: number, take?: TakeSteps): Uint16Array {
  // The calendar repeats every 400 years. Years 0 to 99 are avoided: Date.UTC reads them as 1900 to 1999.
  const equivalentYear = 2000 + (((year % 400) + 400) % 400)
  const key = `${equivalentYear} ${filter}`
  const cached = cachedDays.get(key)
  take?.(cached ? cachedSteps : newSteps)
  if (cached) return cached
  const first = Date.UTC(equivalentYear, 0, 1)
  const [plain = '', weeks, weekStart] = filter.split(';WEEKS=').flatMap((part) => part.split('@'))
  const options = { ...rrule.RRule.parseString(`FREQ=YEARLY;${plain}`), interval: 10_000, dtstart: new Date(first) }
  const found = new rrule.RRule({ ...options, byhour: 0, byminute: 0, bysecond: 0 }, true).all()
  const selected =
    weeks === undefined ? found : found.filter((date) => isInWeeks(date.getTime() / dayMs, weeks.split(',').map(Number), Number(weekStart)))
  const days = Uint16Array.from(selected, (date) => (date.getTime() - first) / dayMs)
  if (cachedDays.size >= maxCachedYears)
    for (const oldest of cachedDays.keys()) {
      cachedDays.delete(oldest)
      break
    }
  cachedDays.set(key, days)
  return days
}
