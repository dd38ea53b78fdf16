import { readFileSync } from 'node:fs'
import test from 'ava'
import { cronProblem, isCron, nextScheduledTime } from '#shared/features/flows/triggers/cron.ts'

interface Case {
  readonly expr: string
  readonly fields: number
  readonly invalid?: boolean
  readonly never?: boolean
  readonly from?: string
  readonly next?: readonly string[]
  readonly from_inclusive?: string
  readonly next_or_same?: string
  readonly at?: string
  readonly fires_at?: boolean
  readonly source: string
}

const { cases } = JSON.parse(readFileSync(new URL('../../fixtures/cron/cron-cases.json', import.meta.url), 'utf8')) as { cases: Case[] }

/** Expressions that Kontor refuses though other services accept them (docs/contract/flows.md#schedules). */
const isNone = ({ expr, fields }: Case): boolean => fields !== 5 || /[?#@]|\dW|\dL|\bH/.test(expr)

/** A step longer than its range: the source continues across hours, while cron restarts with each range. */
const differs: Readonly<Record<string, string>> = { '0-59/65 10 * * *': '2021-08-26T10:00:00Z' }

const minute = 60_000
const nextCronTime = (cron: string, after: Date): Date | undefined => nextScheduledTime({ cron }, after)
const at = (text: string): Date => new Date(text)

/** The first minute at or after an instant that is due, as the cases count: seconds are cut off. */
const dueFrom = (expr: string, from: Date): Date | undefined =>
  nextCronTime(expr, new Date(Math.floor(from.getTime() / minute) * minute - 1))

for (const [index, one] of cases.entries()) {
  test(`cron: case ${index}, ${one.source}: ${one.expr}`, (t) => {
    if (one.invalid || isNone(one)) return t.false(isCron(one.expr))
    if (one.never) return t.is(nextCronTime(one.expr, at(one.from ?? '')), undefined)
    t.true(isCron(one.expr))
    if (one.next) {
      let from = at(one.from ?? '')
      for (const next of one.next) {
        t.deepEqual(nextCronTime(one.expr, from), at(next))
        from = at(next)
      }
    }
    if (one.next_or_same) t.deepEqual(dueFrom(one.expr, at(one.from_inclusive ?? '')), at(differs[one.expr] ?? one.next_or_same))
    if (one.at) t.is(dueFrom(one.expr, at(one.at))?.getTime() === at(one.at).getTime(), one.fires_at ?? false)
  })
}

const none = ['', ' ', '* * * *', '* * * * * *', '@daily', '@reboot', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8']
for (const expr of [
  ...none,
  '*/0 * * * *',
  '1-0 * * * *',
  'a * * * *',
  '* * * foo *',
  '1,,2 * * * *',
  '-1 * * * *',
  '1.5 * * * *',
  '0 0 30 2 *',
]) {
  test(`cron: no cron expression: "${expr}"`, (t) => t.false(isCron(expr)))
}

test('cron: an expression of 29 February finds the next leap year', (t) => {
  t.deepEqual(nextCronTime('0 0 29 2 *', at('2097-01-01T00:00:00Z')), at('2104-02-29T00:00:00Z'))
})

const problems: readonly [string, RegExp | undefined][] = [
  ['0 9 * * mon-fri', undefined],
  ['61 * * * *', /: 61 is no valid minute$/],
  ['0 25 * * *', /: 25 is no valid hour$/],
  ['0 0 * foo *', /: foo is no valid month$/],
  ['0 0 * * 1,9', /: 1,9 is no valid day of week$/],
  ['0 0 31 2 *', /: 31 is no valid day of month$/],
  ['* * * *', /such as 0 9 \* \* mon-fri$/],
  ['* * * * * *', /such as 0 9 \* \* mon-fri$/],
  ['@daily', /such as 0 9 \* \* mon-fri$/],
]
for (const [expr, problem] of problems) {
  test(`cron: the problem of ${expr}`, (t) => (problem ? t.regex(cronProblem(expr) ?? '', problem) : t.is(cronProblem(expr), undefined)))
}
