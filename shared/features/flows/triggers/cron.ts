import { CronExpressionParser } from 'cron-parser'
import { validateDetailed } from 'node-cron'
import { toText } from '#shared/core/automation/template.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { fromWallTime, toWallTime } from '#shared/platform/kernel/time/wall-clock.ts'

/**
 * Pattern of a field of a classic cron expression: numbers, names, ranges, steps and lists; extensions of some cron programs are not
 * accepted.
 */
const field = (names: string) => {
  const one = `(?:\\d{1,2}${names && `|${names}`})`
  const item = `(?:\\*|${one}(?:-${one})?)(?:/[1-9]\\d?)?`
  return `${item}(?:,${item})*`
}
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const days = 'sun|mon|tue|wed|thu|fri|sat'
/** Five fields. Cron-parser then also refuses ranges such as FRI-MON. */
const fiveFields = new RegExp(`^${[field(''), field(''), field(''), field(months), field(days)].join('\\s+')}$`, 'i')

/** Years within which an expression must be due again: the next 29 February comes within eight. */
const maxYears = 9

/** Whether text is a supported cron expression: five fields that are due at some time (docs/contract/flows.md#schedules). */
export const isCron = (text: string): boolean => nextScheduledTime({ cron: text }, new Date(0)) !== undefined

const cronFieldNames = /^(minute|hour|dayOfMonth|month|dayOfWeek)$/
const wordsOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Problem of a cron expression, naming the invalid field if known; undefined when it is valid. */
export function cronProblem(text: string): string | undefined {
  if (isCron(text)) return undefined
  const fault = validateDetailed(text).errors.find(({ field }) => cronFieldNames.test(field))
  const why = fault ? `: ${fault.value} is no valid ${wordsOf(fault.field)}` : ''
  return `cron must be a cron expression with five fields that falls on some day, such as 0 9 * * mon-fri${why}`
}

/** Zone of a schedule without a setting. */
const defaultZone = 'UTC'

/** When a schedule is due: the settings of its trigger. */
export interface Schedule {
  readonly cron: string
  /** An IANA name; UTC when absent or blank. */
  readonly timezone?: string | undefined
}

/** The schedule of a trigger's settings, of which an earlier release may have stored what is no text: then it is never due. */
export const scheduleOf = ({ cron, timezone }: Readonly<Record<string, unknown>>): Schedule => ({
  cron: toText(cron),
  timezone: toText(timezone),
})

/** Problem of a zone's name; undefined when it is one. */
export const zoneProblem = (text: string): string | undefined =>
  isTimeZone(text.trim()) ? undefined : `timezone must be the IANA name of a time zone, such as Europe/Berlin, got ${text.slice(0, 100)}`

/**
 * First instant after `after` at which a schedule is due (docs/contract/flows.md#schedules); undefined when the expression or the zone is
 * invalid, or when it is not due within 9 years.
 */
export function nextScheduledTime({ cron, timezone = '' }: Schedule, after: Date): Date | undefined {
  const zone = timezone.trim() || defaultZone
  const expression = parseCron(cron)
  if (!expression || !isTimeZone(zone)) return undefined
  const next = zone === defaultZone ? expression.next(after) : nextOfClock(expression, after, zone)
  return next && next.getTime() - after.getTime() > maxYears * 366 * dayMs ? undefined : next
}

interface Expression {
  /** First time after another, by a clock that never changes. */
  readonly next: (after: Date) => Date | undefined
}

function parseCron(expression: string): Expression | undefined {
  const text = expression.trim()
  if (!fiveFields.test(text)) return undefined
  const nextOf = (after: Date) => CronExpressionParser.parse(text, { currentDate: after, tz: 'UTC' })
  try {
    nextOf(new Date(0))
  } catch {
    return undefined
  }
  return {
    next: (after) => {
      try {
        return nextOf(after).next().toDate()
      } catch {
        return undefined
      }
    },
  }
}

/** By the times of the clock: one that is skipped is due at the change, of one that comes twice the first. Both happen once. */
function nextOfClock({ next }: Expression, after: Date, zone: string): Date | undefined {
  for (let wall = next(toWallTime(after, zone)); wall; wall = next(wall)) {
    const instant = fromWallTime(wall, zone)
    // Not after it: the clock shows a time for the second time.
    if (instant > after) return instant
  }
  return undefined
}
