import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'ava'
import { zoneRelease } from '#shared/features/calendar/time.ts'
import { ageZone, ageZoneRelease, readZoneReleases } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

const task = 'times by new time zone data'

test('zones: after a change of the time zone data, future events and their reminders keep their local time', async (t) => {
  let now = new Date('2026-11-20T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const calendar = await makeCalendar(t, w, { timezone: 'Europe/Berlin', settings: { no_overlap: true } })
  const make = (body: object) => makeEvent(t, w, { calendar_id: calendar.id, timezone: 'Europe/Berlin', ...body })
  await make({ title: 'One', start: '2026-12-01T09:00:00Z', reminders: [15] })
  const series = await make({ title: 'Many', start: '2026-11-25T12:00:00Z', recurrence: 'FREQ=WEEKLY;COUNT=3' })
  const nth = (start: string) => at(w, `/events/${series.id}?scope=this&occurrence=${start}`)
  await w.org.owner.patch(nth('2026-12-02T12:00:00Z'), { title: 'Own', start: '2026-12-02T14:00:00Z' })
  await w.org.owner.delete(nth('2026-12-09T12:00:00Z'))
  await make({ title: 'Past', start: '2026-11-01T09:00:00Z' })
  await make({ title: 'Day', start: '2026-12-24' })
  await makeEvent(t, w, { calendar_id: calendar.id, timezone: 'UTC', title: 'Fixed', start: '2026-12-03T09:00:00Z' })
  const seen = () => occurrences(w, '2026-11-01', '2026-12-31', w.org.owner, `&calendars=${calendar.id}`)
  const before = await seen()
  t.is(before.length, 6)
  await ageZone(w.db, 'Europe/Berlin')
  const moved = await seen()
  t.true(moved.includes('One 2026-12-01T10:00Z'))
  await runMaintenanceTask(w, task)
  t.deepEqual(
    await seen(),
    before.map((one) => one.replace('Past 2026-11-01T09:00Z', 'Past 2026-11-01T10:00Z')),
    'all but what is over',
  )
  const releases = await readZoneReleases(w.db)
  t.deepEqual(
    releases.filter(({ zone_release }) => zone_release !== zoneRelease).map(({ title }) => title),
    ['Past'],
  )
  const owner = async () => (await w.org.owner.get(`${w.org.path}/notifications`)).data.notifications.length
  now = new Date('2026-12-01T08:45:00Z')
  await w.drain()
  t.is(await owner(), 1)
  await runMaintenanceTask(w, task)
  t.deepEqual((await seen()).length, 6, 'done again it changes nothing')
})

test('zones: an event in the second of a repeated hour stays in the second', async (t) => {
  const w = await world({}, undefined, () => new Date('2026-10-01T08:00:00Z'))
  t.teardown(w.close)
  const starts = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
  for (const start of starts) await makeEvent(t, w, { title: 'N', start, timezone: 'Europe/Berlin' })
  await ageZoneRelease(w.db)
  await runMaintenanceTask(w, task)
  t.deepEqual(await occurrences(w, '2026-10-24', '2026-10-26'), ['N 2026-10-25T00:30Z', 'N 2026-10-25T01:30Z'])
  t.deepEqual(
    (await readZoneReleases(w.db)).map(({ zone_release }) => zone_release),
    [zoneRelease, zoneRelease],
  )
})

test('zones: the metrics contain the release of the time zone data', async (t) => {
  const w = await shared()
  t.regex((await w.visitor.get('/metrics')).text, new RegExp(`kontor_time_zone_release\\{release="${zoneRelease}"\\} 1`))
})

test('zones: an all-day event has the same dates in answers, calendar files and text, in any zone of the process', (t) => {
  const outputs = ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kathmandu'].map((TZ) => {
    const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'print-days.ts')], { env: { ...process.env, TZ } })
    t.not(stdout.length, 0, stderr.toString())
    return JSON.parse(stdout.toString()) as readonly Record<string, unknown>[]
  })
  for (const other of outputs) t.deepEqual(other, outputs[0])
  const [first] = outputs as [readonly Record<string, unknown>[]]
  t.like(first[0], {
    zone: 'Pacific/Kiritimati',
    shown: [['2026-12-28', '2026-12-29']],
    lines: ['DTSTART;VALUE=DATE:20261228', 'DTEND;VALUE=DATE:20261229'],
  })
  t.regex(String(first[0]?.words), /^Monday,? 28 December 2026$/)
  t.deepEqual(first.find(({ zone, shown }) => zone === 'America/Santiago' && (shown as unknown[]).length > 1)?.shown, [
    ['2026-09-06', '2026-09-07'],
    ['2026-09-07', '2026-09-08'],
    ['2026-09-08', '2026-09-09'],
  ])
})

test('zones: after a change of the time zone data, exceptions of one day stay distinct', async (t) => {
  const w = await world({}, undefined, () => new Date('2026-11-20T08:00:00Z'))
  t.teardown(w.close)
  const zoned = { start: '2026-12-01T08:00:00Z', timezone: 'Europe/Berlin', recurrence: 'FREQ=DAILY;BYHOUR=9,10,11;COUNT=6' }
  const { id } = await makeEvent(t, w, zoned)
  for (const hour of ['09', '10']) {
    const path = at(w, `/events/${id}?scope=this&occurrence=2026-12-01T${hour}:00:00Z`)
    t.is((await w.org.owner.patch(path, { title: `At ${hour}` })).status, 200)
  }
  const seen = () => occurrences(w, '2026-12-01', '2026-12-03')
  const before = await seen()
  t.is(before.length, 6)
  await ageZone(w.db, 'Europe/Berlin')
  await runMaintenanceTask(w, task)
  t.deepEqual((await seen()).toSorted(), before.toSorted())
})
