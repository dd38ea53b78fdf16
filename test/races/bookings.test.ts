import test from 'ava'
import { makeCalendar } from '#test/features/calendar/support.ts'
import { openArena, rounds } from '#test/races/arena.ts'
import { countEventClashes } from '#test/races/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'

const arena = openArena(test, { TRUST_PROXY: '1' })
const hours = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]))

test('bookings: of 200 bookers at once no two get times nearer than the buffer', async (t) => {
  const ring = await arena.ring()
  const booking = { enabled: true, hours, durations: [15, 30, 60], slot_step: 15, buffer: 5, min_notice: 0, horizon_days: 60 }
  const { key, id } = await makeCalendar(t, { org: ring }, { settings: { booking } })
  const visitors = arena.pair(arena.world().visitor)
  const first = Math.ceil(Date.now() / 86_400_000) * 86_400_000
  for (let round = 0; round < rounds; round++) {
    const hour = first + round * 2 * 3_600_000
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => {
        const duration = [15, 30, 60][n % 3] ?? 15
        const start = new Date(hour + 15 * (n % 4) * 60_000).toISOString()
        const body = { start, duration, name: `B${n}`, email: `b${n}@example.com` }
        return visitors[n % 2]?.post(`/cal/${ring.id}/book/${key}`, body, fromAnywhere())
      }),
    )
    const statuses = answers.map((answer) => answer?.status ?? 0)
    t.deepEqual([...new Set(statuses)].sort(), [201, 409])
  }
  t.is(await countEventClashes(arena.world().db, id), 0)
})

test('bookings: each slot goes to one booker of a crowd, and other callers are served', async (t) => {
  const ring = await arena.ring()
  const booking = { enabled: true, hours, durations: [30], min_notice: 0, horizon_days: 60 }
  const { key } = await makeCalendar(t, { org: ring }, { settings: { booking } })
  const visitors = arena.pair(arena.world().visitor)
  const first = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 86_400_000
  for (const [slots, from] of [
    [1, first],
    [20, first + 86_400_000],
  ] as const) {
    const crowd = Promise.all(
      Array.from({ length: 200 }, (_, n) => {
        const body = { start: new Date(from + (n % slots) * 1_800_000).toISOString(), name: `B${n}`, email: `b${n}@example.com` }
        return visitors[n % 2]?.post(`/cal/${ring.id}/book/${key}`, body, fromAnywhere())
      }),
    )
    const other = await ring.owner.get(`${ring.path}/calendar/calendars`)
    t.is(other.status, 200)
    const statuses = (await crowd).map((answer) => answer?.status)
    t.deepEqual(
      [statuses.filter((status) => status === 201).length, statuses.filter((status) => status === 409).length],
      [slots, 200 - slots],
    )
  }
})
