import test from 'ava'
import { listOccurrencesIn } from '#shared/features/calendar/series/occurrences.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

const hours = Array.from({ length: 24 }, (_, hour) => hour).join()
const first = Date.parse('2026-11-01T00:00:00Z')

/** Series that start every hour, each of them one minute after the one before. */
const series = (count: number, rule = (index: number) => `FREQ=DAILY;BYHOUR=${hours};BYMINUTE=${index % 60}`) =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index).padStart(4, '0'),
    series_id: null,
    original_start: null,
    original_date: null,
    is_removed: false,
    start_at: new Date(first).toISOString(),
    end_at: new Date(first + 1_800_000).toISOString(),
    start_date: null,
    end_date: null,
    timezone: 'Europe/Berlin',
    recurrence: rule(index),
    rdates: [],
    exdates: [],
  }))

/** A budget that records its use, and the largest use between two possible pauses. */
function counted(): ComputeBudget & { readonly taken: () => number; readonly mostAtOnce: () => number } {
  let [taken, atOnce, mostAtOnce] = [0, 0, 0]
  return {
    left: Number.POSITIVE_INFINITY,
    takeSteps: (steps) => {
      taken += steps
      atOnce += steps
      mostAtOnce = Math.max(mostAtOnce, atOnce)
    },
    refill: () => undefined,
    isPauseDue: () => true,
    pause: async () => {
      atOnce = 0
    },
    taken: () => taken,
    mostAtOnce: () => mostAtOnce,
  }
}

const year = { from: first, to: first + 400 * dayMs }
const zoneOf = () => 'Europe/Berlin'

test('many starts: 60 hourly series are expanded together, in order, and only as far as requested', async (t) => {
  const budget = counted()
  const found = await listOccurrencesIn(series(60), year, zoneOf, budget, 2_000)
  const starts = found.map(({ from }) => from)
  t.is(found.length, 2_000)
  t.deepEqual(
    starts,
    starts.toSorted((a, b) => a - b),
  )
  // The 2,000th of 1,440 a day is on the second one; all series to the end of the window would take 576,000 candidates.
  t.true((starts.at(-1) ?? 0) < first + 2 * dayMs)
  t.true(budget.taken() < 30_000, `${budget.taken()} steps`)
})

const hostile: readonly (readonly [string, string])[] = [
  ['every hour', `FREQ=DAILY;BYHOUR=${hours}`],
  ['every hour of a year', `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${hours}`],
  ['a day that no year has', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
  ['places of a year', `FREQ=YEARLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${hours};BYSETPOS=1,100,-1,366`],
  ['days of the year by number', `FREQ=DAILY;BYYEARDAY=${Array.from({ length: 110 }, (_, index) => index + 100).join()}`],
  ['a count that is far off', `FREQ=DAILY;COUNT=999999999;BYHOUR=${hours}`],
  ['years far apart', 'FREQ=YEARLY;INTERVAL=999999'],
]
for (const [name, rule] of hostile) {
  test(`many starts: the expansion yields after few steps: ${name}`, async (t) => {
    const budget = counted()
    await listOccurrencesIn(
      series(3, () => rule),
      year,
      zoneOf,
      budget,
    )
    // A step takes a microsecond or two.
    t.true(budget.mostAtOnce() <= 500, `${budget.mostAtOnce()} steps at once`)
  })
}

test('many starts: an expansion ends at its limit, for any number of series', async (t) => {
  const budget = computeBudget('w', { steps: 50_000, bound: 'more than 50,000 steps' })
  const error = await t.throwsAsync(listOccurrencesIn(series(60), year, zoneOf, budget))
  t.is(error?.message, 'more than 50,000 steps')
})

const fileOf = (count: number) =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Test//EN'],
    ...Array.from({ length: count }, (_, index) => [
      ...['BEGIN:VEVENT', `UID:s-${index}`, 'DTSTART;TZID=Europe/Berlin:20261101T000000', 'DURATION:PT30M', `SUMMARY:S${index}`],
      ...[`RRULE:FREQ=DAILY;BYHOUR=${hours};BYMINUTE=${index % 60}`, 'END:VEVENT'],
    ]).flat(),
    ...['END:VCALENDAR', ''],
  ].join('\r\n')

const always = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]))

test('many starts: lists, free/busy and free times work for a calendar of 60 such series', async (t) => {
  const w = await fresh()
  const booking = { enabled: true, durations: [30], min_notice: 0, horizon_days: 60, hours: always }
  const { id, key } = await makeCalendar(t, w, { timezone: 'Europe/Berlin', settings: { booking } })
  const came = await w.org.owner.send('POST', at(w, `/calendars/${id}/import`), fileOf(60), { 'content-type': 'text/calendar' })
  t.like(came.data, { created: 60, skipped: 0 })
  const window = 'from=2026-12-01T00:00:00Z&to=2026-12-15T00:00:00Z'
  const { data } = await w.org.owner.get(at(w, `/events?${window}&calendars=${id}`))
  t.is(data.events.length, 2_000)
  t.is(data.events.at(-1).start, '2026-12-02T08:50:00.000000Z')
  const free = await w.org.owner.get(at(w, `/freebusy?${window}&calendars=${id}`))
  t.deepEqual(free.data.calendars, [
    { id, busy: [{ start: '2026-12-01T00:00:00.000000Z', end: '2026-12-15T00:00:00.000000Z' }], unknown: false },
  ])
  const slots = await w.visitor.get(`/cal/${w.org.id}/book/${key}/slots?${window}`)
  t.deepEqual([slots.status, slots.data.slots], [200, []])
})

test('many starts: of series created concurrently in a calendar without overlaps, one of each time is kept, without a 500', async (t) => {
  const w = await fresh()
  const { id: calendar_id } = await makeCalendar(t, w, { settings: { no_overlap: true } })
  const second = (await startSecondApi(t, w)).as(w.org.owner.token ?? '')
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, index) => {
      // Ten times, each asked for five times.
      const start = `2026-12-01T${String(8 + (index % 10)).padStart(2, '0')}:00:00Z`
      const client = index % 2 === 0 ? w.org.owner : second
      return client.post(at(w, '/events'), { calendar_id, title: 'S', start, recurrence: 'FREQ=DAILY' })
    }),
  )
  const statuses = Object.fromEntries(
    Object.entries(Object.groupBy(made, ({ status }) => status)).map(([status, all]) => [status, all?.length]),
  )
  t.deepEqual(statuses, { 201: 10, 409: 40 })
  const { data } = await w.org.owner.get(at(w, `/events?from=2027-03-01T00:00:00Z&to=2027-03-02T00:00:00Z&calendars=${calendar_id}`))
  t.is(new Set(data.events.map(({ start }: { start: string }) => start)).size, 10)
  t.is(data.events.length, 10)
})
