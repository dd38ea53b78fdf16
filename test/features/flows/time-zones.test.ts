import test from 'ava'
import { nextScheduledTime } from '#shared/features/flows/triggers/cron.ts'
import { chain, createFlow } from '#test/features/flows/support.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const world = shareWorld(test)

/** The due times after an instant, each found from the one before, as the schedule of a flow finds them; without the year. */
function timesOf(cron: string, timezone: string, after: string, count: number): string[] {
  const times: string[] = []
  for (let from = new Date(after); times.length < count; ) {
    const next = nextScheduledTime({ cron, timezone }, from)
    if (!next) break
    times.push(next.toISOString().slice(5, 16))
    from = next
  }
  return times
}

const quarters = (hours: readonly string[]): string[] =>
  hours.flatMap((hour) => ['00', '15', '30', '45'].map((minute) => `${hour}:${minute}`))

// The clocks change at 2026-03-29T01:00Z and 2026-10-25T01:00Z in Berlin, at 2026-03-08T07:00Z and 2026-11-01T06:00Z in New York.
const cases: readonly (readonly [cron: string, zone: string, after: string, times: readonly string[]])[] = [
  // A time that is skipped runs at the change.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
  ['0 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:00']],
  ['30 2 * * *', 'America/New_York', '2026-03-07T00:00:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
  // Once: several that are skipped, or one of the time to which the clock jumps, are the same instant.
  ['*/15 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:00', '03-30T00:15']],
  ['0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['03-29T01:00', '03-30T00:00', '03-30T01:00']],
  // Of a time that comes twice the first runs, also when the search begins between the two.
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['10-25T00:30', '10-26T01:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45:00Z', ['10-26T01:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', ['10-26T01:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', ['11-01T05:30', '11-02T06:30']],
  ['30 2 * * *', 'America/New_York', '2026-10-31T12:00:00Z', ['11-01T07:30', '11-02T07:30']],
  ['15,45 2-3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['10-25T00:15', '10-25T00:45', '10-25T02:15', '10-25T02:45']],
  // The same holds for a schedule of every hour.
  ['*/15 * * * *', 'Europe/Berlin', '2026-03-28T23:59:00Z', quarters(['03-29T00', '03-29T01', '03-29T02'])],
  ['*/15 * * * *', 'Europe/Berlin', '2026-10-24T23:59:00Z', quarters(['10-25T00', '10-25T02', '10-25T03'])],
  ['*/15 * * * *', 'America/New_York', '2026-03-08T05:59:00Z', quarters(['03-08T06', '03-08T07', '03-08T08'])],
  ['*/15 * * * *', 'America/New_York', '2026-11-01T04:59:00Z', quarters(['11-01T05', '11-01T07', '11-01T08'])],
  ['0 * * * *', 'Europe/Berlin', '2026-03-28T23:30:00Z', ['03-29T00:00', '03-29T01:00', '03-29T02:00']],
  ['0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', ['10-25T00:00', '10-25T02:00', '10-25T03:00']],
  ['0 * * * *', 'America/New_York', '2026-03-08T05:30:00Z', ['03-08T06:00', '03-08T07:00', '03-08T08:00']],
  ['0 0-23 * * *', 'America/New_York', '2026-11-01T04:30:00Z', ['11-01T05:00', '11-01T07:00', '11-01T08:00']],
  ['30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', ['03-29T00:30', '03-29T01:00', '03-29T01:30']],
  // On one day only, by its clock.
  ['0 * 25 10 *', 'Europe/Berlin', '2026-10-25T22:30:00Z', ['10-24T22:00']],
  // A change by half an hour; and midnight that does not exist.
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00:00Z', ['10-03T15:30', '10-04T15:15']],
  ['0 0 * * *', 'Africa/Cairo', '2026-04-22T12:00:00Z', ['04-22T22:00', '04-23T22:00', '04-24T21:00']],
  // A zone of no changes, UTC in another name, and blank text.
  ['30 2 * * *', 'Asia/Kolkata', '2026-03-28T00:00:00Z', ['03-28T21:00', '03-29T21:00']],
  ['30 2 * * *', 'Etc/UTC', '2026-03-28T00:00:00Z', ['03-28T02:30']],
  ['30 2 * * *', ' ', '2026-03-29T00:00:00Z', ['03-29T02:30']],
]
for (const [cron, zone, after, times] of cases) {
  test(`time zones: ${cron} in ${zone || 'no zone'} after ${after}`, (t) =>
    t.deepEqual(timesOf(cron, zone, after, times.length), [...times]))
}

test('time zones: an unknown zone is never due', (t) => {
  for (const timezone of ['Europe/Nowhere', 'IST', '+02:00'])
    t.is(nextScheduledTime({ cron: '* * * * *', timezone }, new Date(0)), undefined)
})

test('time zones: a schedule takes a zone, and one that is no IANA name is a problem', async (t) => {
  const w = await world()
  const org = await createOrg(w)
  const make = ['a', 'action.create_record', { object_type: 'locations', values: { name: 'x' } }] as const
  const every = (timezone: string) => ({ enabled: true, ...chain(['t', 'trigger.schedule', { cron: '30 9 * * *', timezone }], make) })
  const flow = await createFlow(t, org, every('Asia/Kolkata'))
  t.true(flow.enabled)
  t.regex(flow.next_run_at, /T04:00:00.000000Z$/)
  t.regex((await createFlow(t, org, every(''))).next_run_at, /T09:30:00.000000Z$/)
  const wrong = await createFlow(t, org, every('IST'))
  t.deepEqual(wrong.problems, [{ node_id: 't', message: 'timezone must be the IANA name of a time zone, such as Europe/Berlin, got IST' }])
  t.false(wrong.enabled)
  const changed = await org.owner.put(`${org.path}/flows/${flow.id}`, every('America/Nowhere'))
  t.is(changed.status, 400)
  t.regex(changed.data?.message ?? changed.text, /timezone must be the IANA name/)
})
