import { CronExpressionParser } from 'cron-parser'
import { validateDetailed } from 'node-cron'

/** Every field as cron has always had it: numbers, names, ranges, steps and lists; and nothing that only some dialects know. */
const field = (names: string) => {
  const one = `(?:\\d{1,2}${names && `|${names}`})`
  const item = `(?:\\*|${one}(?:-${one})?)(?:/[1-9]\\d?)?`
  return `${item}(?:,${item})*`
}
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const days = 'sun|mon|tue|wed|thu|fri|sat'
const five = new RegExp(`^${[field(''), field(''), field(''), field(months), field(days)].join('\\s+')}$`, 'i')

// A range may go round its end, such as FRI-MON; cron-parser refuses those. A leap year comes within eight years.
const mostYears = 9

/** Whether text is a cron expression as this service takes it: five fields, in UTC (decisions, Flows). It may still fall on no day ever. */
export const isCron = (text: string): boolean => nextCronTime(text, new Date(0)) !== undefined

const isFieldAtFault = /^(minute|hour|dayOfMonth|month|dayOfWeek)$/
const wordsOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** What keeps text from being a cron expression, by the field at fault where one is; undefined when it is one. */
export function cronProblem(text: string): string | undefined {
  if (isCron(text)) return undefined
  const [fault] = validateDetailed(text).errors.filter(({ field }) => isFieldAtFault.test(field))
  const why = fault ? `: ${fault.value} is no ${wordsOf(fault.field)} that there is` : ''
  return `cron must be a cron expression with five fields that falls on some day, such as 0 9 * * mon-fri${why}`
}

/** The first instant strictly after another at which a cron expression is due; undefined when it is none, or falls on no day. */
export function nextCronTime(expression: string, after: Date): Date | undefined {
  const text = expression.trim()
  if (!five.test(text)) return undefined
  try {
    const next = CronExpressionParser.parse(text, { currentDate: after, tz: 'UTC' }).next().toDate()
    return next.getTime() - after.getTime() > mostYears * 366 * 86_400_000 ? undefined : next
  } catch {
    return undefined
  }
}
