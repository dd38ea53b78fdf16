import test from 'ava'
import { toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { times } from '#test/support/depth.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

/** Numbers that look like chance and are the same every time. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const zones = [
  ...['Europe/Berlin', 'America/New_York', 'America/Vancouver', 'America/Santiago', 'Pacific/Kiritimati', 'Pacific/Apia'],
  ...['Asia/Kathmandu', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Asia/Tehran', 'America/St_Johns', 'UTC'],
]
const rules = [
  ...[
    'FREQ=DAILY;COUNT=12',
    'FREQ=DAILY;INTERVAL=9',
    'FREQ=WEEKLY',
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH',
    'FREQ=WEEKLY;COUNT=20;BYDAY=TU,SA',
  ],
  ...['FREQ=MONTHLY;BYDAY=-1FR', 'FREQ=MONTHLY;BYMONTHDAY=31', 'FREQ=MONTHLY;BYDAY=2TU;UNTIL=20270401T000000Z', 'FREQ=YEARLY'],
]

/** A window of 400 days with changes of clocks in it. */
const window = 'from=2026-09-01&to=2027-10-06'

async function listed(w: World, calendarId: string): Promise<string[]> {
  const { data } = await w.org.owner.get(at(w, `/events?${window}&calendars=${calendarId}`))
  return data.events.map(({ title, start, end }: Record<string, string>) => `${title} ${start} ${end}`).sort()
}

interface Listed {
  readonly event_id: string
  readonly start: string
}
const ofSeries = async (w: World, calendarId: string, id: string): Promise<Listed[]> =>
  (await w.org.owner.get(at(w, `/events?${window}&calendars=${calendarId}`))).data.events.filter(
    (one: { series_id: string }) => one.series_id === id,
  )

const parts = times(3, 10)

test(`random series: ${parts * 20} series of all kinds, with occurrences changed and deleted, are the same elsewhere when they come from a file`, async (t) => {
  const w = await fresh()
  for (let part = 0; part < parts; part++) {
    const random = chance(part + 1)
    const { id: calendarId } = await makeCalendar(t, w, { timezone: zones[part] })
    for (let number = 0; number < 20; number++) {
      const isDates = random(4) === 0
      const day = new Date(Date.UTC(2026, 8, 1 + random(120))).toISOString().slice(0, 10)
      const start = isDates ? day : `${day}T${String(random(24)).padStart(2, '0')}:${random(2) * 30 || '00'}:00Z`
      const rule = rules[random(rules.length)] ?? ''
      const body = { calendar_id: calendarId, title: `S${number}`, start, timezone: zones[random(zones.length)] }
      const { id } = await makeEvent(t, w, { ...body, recurrence: isDates ? rule.replace('T000000Z', '') : rule })
      const found = await ofSeries(w, calendarId, id)
      const [changed, gone] = [found[1 + random(3)], found[4 + random(3)]]
      const path = (one: Listed) => at(w, `/events/${id}?scope=this&occurrence=${encodeURIComponent(one.start)}`)
      const later = (text: string) =>
        isDates ? { title: `Own ${number}` } : { start: new Date(Date.parse(text) + 5_400_000).toISOString() }
      if (changed) t.is((await w.org.owner.patch(path(changed), later(changed.start))).status, 200)
      if (gone) t.is((await w.org.owner.delete(path(gone))).status, 200)
    }
    const before = await listed(w, calendarId)
    t.true(before.length > 100 && before.length < 2_000)
    const file = await w.org.owner.get(at(w, `/calendars/${calendarId}/export`))
    const { id: other } = await makeCalendar(t, w, { timezone: zones[part + 1] })
    const came = await w.org.owner.send('POST', at(w, `/calendars/${other}/import`), file.text, { 'content-type': 'text/calendar' })
    t.like(came.data, { created: 20, skipped: 0, warnings: [] })
    t.deepEqual(await listed(w, other), before, `part ${part}`)
  }
})

test('random series: a series split at any occurrence has each occurrence once', async (t) => {
  const w = await fresh()
  for (const [number, zone] of [...zones, ...zones.slice(0, 8)].slice(0, times(8, 20)).entries()) {
    const rule = `${['FREQ=DAILY', 'FREQ=WEEKLY;BYDAY=MO,WE', 'FREQ=MONTHLY'][number % 3]};COUNT=5`
    const isDates = number % 5 === 4
    const { id: calendarId } = await makeCalendar(t, w, { timezone: zone })
    for (let place = 1; place < 5; place++) {
      // A Monday before most clocks change.
      const start = isDates ? '2026-10-19' : '2026-10-19T14:00:00Z'
      const { id } = await makeEvent(t, w, { calendar_id: calendarId, start, timezone: zone, recurrence: rule })
      const before = await ofSeries(w, calendarId, id)
      t.is(before.length, 5)
      const where = (index: number) => `occurrence=${encodeURIComponent(before[index]?.start ?? '')}`
      const gone = place === 2 ? 3 : 2
      await w.org.owner.delete(at(w, `/events/${id}?scope=this&${where(gone)}`))
      const rest = await w.org.owner.patch(at(w, `/events/${id}?scope=following&${where(place)}`), { title: 'Later' })
      t.is(rest.status, 200, rest.text)
      const after = [...(await ofSeries(w, calendarId, id)), ...(await ofSeries(w, calendarId, rest.data.id))]
      const starts = before.map((one) => one.start)
      t.deepEqual(
        after.map((one) => one.start),
        starts.filter((_, index) => index !== gone),
        `${zone} ${rule} at ${place}`,
      )
    }
  }
})

test('random series: a moved series moves all occurrences by local time, and deleted ones stay deleted', async (t) => {
  const w = await fresh()
  for (const zone of zones.slice(0, times(4, zones.length))) {
    const { id: calendarId } = await makeCalendar(t, w, { timezone: zone })
    for (const distance of [3_600_000, dayMs]) {
      const start = '2026-10-19T14:00:00Z'
      const { id } = await makeEvent(t, w, { calendar_id: calendarId, start, timezone: zone, recurrence: 'FREQ=WEEKLY;COUNT=30' })
      const path = (index: number) => at(w, `/events/${id}?scope=this&occurrence=${encodeURIComponent(all[index]?.start ?? '')}`)
      const all = await ofSeries(w, calendarId, id)
      await w.org.owner.delete(path(3))
      await w.org.owner.patch(path(5), { start: new Date(Date.parse(all[5]?.start ?? '') + 7_200_000).toISOString() })
      const walls = async () => (await ofSeries(w, calendarId, id)).map((one) => toWallClock(Date.parse(one.start), zone))
      const before = await walls()
      t.is(before.length, 29)
      t.is((await w.org.owner.patch(at(w, `/events/${id}`), { start: new Date(Date.parse(start) + distance).toISOString() })).status, 200)
      t.deepEqual(
        await walls(),
        before.map((wall) => wall + distance),
        `${zone} ${distance}`,
      )
    }
  }
})
