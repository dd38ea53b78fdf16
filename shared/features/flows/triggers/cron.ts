import { CronExpressionParser } from 'cron-parser'
import { validateDetailed } from 'node-cron'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

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

/** Whether text is a supported cron expression: five fields, read in UTC, that are due at some time (docs/contract/flows.md#schedules). */
export const isCron = (text: string): boolean => nextCronTime(text, new Date(0)) !== undefined

const cronFieldNames = /^(minute|hour|dayOfMonth|month|dayOfWeek)$/
const wordsOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Problem of a cron expression, naming the invalid field if known; undefined when it is valid. */
export function cronProblem(text: string): string | undefined {
  if (isCron(text)) return undefined
  const fault = validateDetailed(text).errors.find(({ field }) => cronFieldNames.test(field))
  const why = fault ? `: ${fault.value} is no valid ${wordsOf(fault.field)}` : ''
  return `cron must be a cron expression with five fields that falls on some day, such as 0 9 * * mon-fri${why}`
}

/** First instant after `after` at which a cron expression is due; undefined when the expression is invalid or not due within 9 years. */
export function nextCronTime(expression: string, after: Date): Date | undefined {
  const text = expression.trim()
  if (!fiveFields.test(text)) return undefined
  try {
    const next = CronExpressionParser.parse(text, { currentDate: after, tz: 'UTC' }).next().toDate()
    return next.getTime() - after.getTime() > maxYears * 366 * dayMs ? undefined : next
  } catch {
    return undefined
  }
}
