import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { lastStart, listStarts, type Series } from '#shared/features/calendar/series/expand.ts'
import { readRule } from '#shared/features/calendar/series/rule.ts'
import { fromWallClock, toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

interface Case {
  readonly id: string
  readonly rrule: string
  readonly dtstart: string
  readonly tzid: string | null
  readonly expected: readonly string[]
  readonly confidence: string
  readonly dtstart_in_sync?: boolean
  readonly window_from?: string
  readonly window_to?: string
  readonly first_n_only?: boolean
  readonly invalid?: boolean
}
const { cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'fixtures', 'rrule', 'rrule-expectations.json'), 'utf8'),
) as {
  cases: readonly Case[]
}

/** Cases that contradict others of the table, and the occurrences that a user sees. */
const differing: Readonly<Record<string, string>> = {
  'libical-78': 'days from the end of a month are counted in every month of the year, where others count them in that of the start',
  'dateutil-RRuleTest.testYearlyByWeekNo': 'a week without a weekday means the weekday of the start, where others take all seven days',
  'dateutil-RRuleTest.testWeeklyByWeekNo': 'a week without a weekday means the weekday of the start, where others take all seven days',
}

const reading = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text.endsWith('Z') ? text : `${text}Z`)
const shown = (text: string): string => (text.length === 10 ? `${text}T00:00:00` : text.slice(0, 19))

function seriesOf({ rrule, dtstart, tzid }: Pick<Case, 'rrule' | 'dtstart' | 'tzid'>): Series {
  const zone = tzid ?? 'UTC'
  const start = fromWallClock(reading(dtstart), zone)
  return { allDay: false, start, end: start, zone, rule: readRule(rrule), rdates: [], exdates: [] }
}

/** The start is always an occurrence, and counts. */
function expectedOf({ expected, dtstart, dtstart_in_sync, rrule }: Case): string[] {
  const starts = expected.map(shown)
  if (dtstart_in_sync !== false || starts[0] === shown(dtstart)) return starts
  return [shown(dtstart), ...starts].slice(0, Number(/COUNT=(\d+)/.exec(rrule)?.[1] ?? Number.POSITIVE_INFINITY))
}

test('expand: occurrences match those of other libraries', (t) => {
  const agreed = cases.filter(
    ({ confidence, rrule, invalid }) => confidence === 'high' && !invalid && !/SECONDLY|MINUTELY|HOURLY/.test(rrule),
  )
  t.true(agreed.length > 130)
  const found: string[] = []
  for (const one of agreed) {
    const series = seriesOf(one)
    const edge = (text: string | undefined, otherwise: number) =>
      text === undefined ? otherwise : fromWallClock(reading(text), series.zone)
    const expected = expectedOf(one)
    const atMost = one.first_n_only ? expected.length : 3_000
    const starts = listStarts(series, edge(one.window_from, series.start), edge(one.window_to, Date.parse('9000-01-01')) + 1, atMost)
    const got = starts.map((ms) => new Date(toWallClock(ms, series.zone)).toISOString().slice(0, 19))
    if (got.join() !== expected.join()) found.push(one.id)
  }
  t.deepEqual(found.sort(), Object.keys(differing).sort())
})

/** The week of a day by the calendar of weeks: its number and its year are those of its Thursday. */
function weekOf(ms: number): number {
  const thursday = ms + (3 - ((new Date(ms).getUTCDay() + 6) % 7)) * dayMs
  return Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / (7 * dayMs)) + 1
}

for (const number of [1, 2, 52, 53]) {
  test(`expand: week ${number} of a year is the one that calendars show, in a hundred years`, (t) => {
    const start = Date.parse('2001-01-01T09:00:00Z')
    const [from, to] = [Date.parse('2001-01-02T00:00:00Z'), Date.parse('2101-01-01T00:00:00Z')]
    const rule = readRule(`FREQ=YEARLY;BYWEEKNO=${number};BYDAY=MO,SA,SU`)
    const starts = listStarts({ allDay: false, start, end: start, zone: 'UTC', rule, rdates: [], exdates: [] }, from, to, 1_000)
    const days = Array.from({ length: (to - from) / dayMs }, (_, index) => from + index * dayMs)
    const expected = days.filter((ms) => weekOf(ms) === number && [0, 1, 6].includes(new Date(ms).getUTCDay()))
    t.deepEqual(
      starts.map((ms) => new Date(ms).toISOString().slice(0, 10)),
      expected.map((ms) => new Date(ms).toISOString().slice(0, 10)),
    )
  })
}

test('expand: a weekday counts beside a numbered weekday and beside days of the year', (t) => {
  const starts = (rule: string) =>
    listStarts(seriesOf({ rrule: rule, dtstart: '2026-01-05T09:00:00', tzid: 'UTC' }), 0, Date.parse('2026-02-20'), 20).map((ms) =>
      new Date(ms).toISOString().slice(5, 10),
    )
  t.deepEqual(starts('FREQ=MONTHLY;BYDAY=MO,1TU'), ['01-05', '01-06', '01-12', '01-19', '01-26', '02-02', '02-03', '02-09', '02-16'])
  t.deepEqual(starts('FREQ=YEARLY;BYYEARDAY=5,6,12,13;BYDAY=MO'), ['01-05', '01-12'])
})

const bombs: readonly (readonly [string, string])[] = [
  ['a day that no year has', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
  ['the same day by day', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30'],
  ['the same, counted', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=5'],
  ['a week 53 that must be in May', 'FREQ=YEARLY;BYWEEKNO=53;BYMONTH=5'],
  ['very many', 'FREQ=DAILY;COUNT=999999999'],
  ['very far apart', 'FREQ=YEARLY;INTERVAL=999999'],
  ['a place that no day has', 'FREQ=DAILY;BYSETPOS=366'],
  ['many starts a day', 'FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23'],
  ['everything at once', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMONTHDAY=1,2,3,4,5,6,7;BYSETPOS=-366;BYHOUR=1,2;BYMINUTE=1,2'],
]
for (const [name, rule] of bombs) {
  test(`expand: a rule of ${name} is answered at once`, (t) => {
    const series = seriesOf({ rrule: rule, dtstart: '1970-01-05T09:00:00', tzid: 'Europe/Berlin' })
    const began = process.cpuUsage()
    t.true(listStarts(series, Date.parse('2026-01-01'), Date.parse('2026-01-01') + 400 * dayMs, 2_000).length <= 2_000)
    lastStart(series)
    // A second of this process's own time: others may be at it too.
    t.true(process.cpuUsage(began).user < 1_000_000)
  })
}

test('expand: the last start of a rule with an end is known', (t) => {
  const last = (rule: string) => {
    const ms = lastStart(seriesOf({ rrule: rule, dtstart: '2026-03-27T09:00:00', tzid: 'Europe/Berlin' }))
    return ms === undefined ? undefined : new Date(ms).toISOString()
  }
  t.is(last('FREQ=DAILY;COUNT=3'), '2026-03-29T07:00:00.000Z')
  t.is(last('FREQ=DAILY;UNTIL=20260401'), '2026-04-01T21:59:59.000Z')
  t.is(last('FREQ=DAILY'), undefined)
})
