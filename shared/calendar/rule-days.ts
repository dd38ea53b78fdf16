import rrule from 'rrule'
import type { RuleParts } from '#shared/calendar/rule.ts'
import { dayMs } from '#shared/calendar/time.ts'

/** Takes steps of a budget; throws where there are not enough. */
export type Take = (steps: number) => void

/** Steps of a year whose days are known, and of one that the library has to be asked for: 0.02 to 0.3 ms. */
const [knownSteps, newSteps] = [5, 100]

/** Parts of a rule that choose days of a year. */
const dayParts = ['BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYDAY'] as const
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
const everyWeekday = weekdays.join()
const everyMonth = '1,2,3,4,5,6,7,8,9,10,11,12'

/** Days of the week since a Monday: the number of days since 1970 of a Thursday gives 3. */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7
export const weekdayNumber = (name: string): number => Math.max(0, weekdays.indexOf(name as (typeof weekdays)[number]))

/**
 * The days that a rule chooses, as the parts of a yearly rule, weeks of the year as `WEEKS=<numbers>@<first day>`: INTERVAL, BYSETPOS and times of day are left to the caller. What the rule
 * leaves open comes from its first day, in days since 1970 (RFC 5545, 3.3.10).
 */
export function dayFilter(rule: RuleParts, firstDay: number): string {
  const freq = rule.get('FREQ')
  const parts = new Map(dayParts.flatMap((name) => (rule.has(name) ? [[name as string, rule.get(name) as string]] : [])))
  const first = new Date(firstDay * dayMs)
  const isOpen = !parts.has('BYDAY') && !parts.has('BYMONTHDAY') && !parts.has('BYYEARDAY')
  if (isOpen && freq === 'DAILY') parts.set('BYDAY', everyWeekday)
  else if (isOpen && (freq === 'WEEKLY' || parts.has('BYWEEKNO'))) parts.set('BYDAY', weekdays[weekdayOf(firstDay)] as string)
  else if (isOpen) {
    parts.set('BYMONTHDAY', String(first.getUTCDate()))
    if (freq === 'YEARLY' && !parts.has('BYMONTH')) parts.set('BYMONTH', String(first.getUTCMonth() + 1))
  }
  // `1MO` is the first Monday of a month or year. In a week or a day the number has no meaning.
  if (freq === 'MONTHLY' && !parts.has('BYMONTH')) parts.set('BYMONTH', everyMonth)
  if (freq === 'DAILY' || freq === 'WEEKLY') parts.set('BYDAY', (parts.get('BYDAY') ?? everyWeekday).replaceAll(/[+-]?\d+/g, ''))
  else if (parts.has('BYDAY')) parts.set('BYDAY', likeWeekdays(parts.get('BYDAY') as string, parts.has('BYMONTH') ? 5 : 53))
  const weeks = parts.get('BYWEEKNO')
  parts.delete('BYWEEKNO')
  const plain = [...parts].map(([name, value]) => `${name}=${value}`).join(';')
  return weeks === undefined ? plain : `${plain};WEEKS=${weeks}@${weekdayNumber(rule.get('WKST') ?? 'MO')}`
}

/**
 * Whether a day lies in one of some weeks of a year, counted from its end where they are negative: a week belongs to the year of its fourth
 * day (RFC 5545, 3.3.10). The library mistakes the last week of a year for another one in January (7 of 100 years) and misses -52 and -53.
 */
function isInWeeks(day: number, weeks: readonly number[], weekStart: number): boolean {
  const fourth = day - ((weekdayOf(day) - weekStart + 7) % 7) + 3
  const year = new Date(fourth * dayMs).getUTCFullYear()
  const index = fourth - Date.UTC(year, 0, 1) / dayMs
  const number = Math.floor(index / 7) + 1
  const last = Math.floor((Date.UTC(year + 1, 0, 1) / dayMs - Date.UTC(year, 0, 1) / dayMs - 1 - (index % 7)) / 7) + 1
  return weeks.includes(number) || weeks.includes(number - last - 1)
}

/** The library takes `MO,1TU` for days that are both: a plain weekday beside a numbered one is written as all of its numbers. */
function likeWeekdays(list: string, most: number): string {
  if (!/\d/.test(list)) return list
  const numbered = (day: string) => Array.from({ length: most }, (_, index) => `${index + 1}${day}`)
  return list
    .split(',')
    .flatMap((day) => (/\d/.test(day) ? [day] : numbered(day)))
    .join()
}

const known = new Map<string, Uint16Array>()
/** Years that are kept, of at most 732 bytes each; the oldest one makes room for a new one. */
const mostKnown = 5_000

/**
 * The days of a year that a filter of `dayFilter` chooses, counted from 0 for the first of January. Every year takes one call to the library:
 * it goes on until the year 9999 where a filter chooses no day, so an interval beyond that ends it after the year.
 */
export function daysOfYear(filter: string, year: number, take?: Take): Uint16Array {
  // Calendars repeat every 400 years; JavaScript takes the years 0 to 99 for others.
  const same = 2000 + (((year % 400) + 400) % 400)
  const key = `${same} ${filter}`
  const kept = known.get(key)
  take?.(kept ? knownSteps : newSteps)
  if (kept) return kept
  const first = Date.UTC(same, 0, 1)
  const [plain = '', weeks, weekStart] = filter.split(';WEEKS=').flatMap((part) => part.split('@'))
  const options = { ...rrule.RRule.parseString(`FREQ=YEARLY;${plain}`), interval: 10_000, dtstart: new Date(first) }
  const found = new rrule.RRule({ ...options, byhour: 0, byminute: 0, bysecond: 0 }, true).all()
  const chosen =
    weeks === undefined ? found : found.filter((date) => isInWeeks(date.getTime() / dayMs, weeks.split(',').map(Number), Number(weekStart)))
  const days = Uint16Array.from(chosen, (date) => (date.getTime() - first) / dayMs)
  if (known.size >= mostKnown)
    for (const oldest of known.keys()) {
      known.delete(oldest)
      break
    }
  known.set(key, days)
  return days
}
