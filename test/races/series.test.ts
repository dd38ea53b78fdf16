import test from 'ava'
import { at, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { atOnce, openArena, rounds } from '#test/races/arena.ts'

const arena = openArena(test)
const weekMs = 7 * 86_400_000
const first = Date.parse('2027-01-04T09:00:00Z')
const week = (number: number) => new Date(first + number * weekMs).toISOString()

test('series: 20 moves of a series with exceptions on following weeks are all made, and none is lost', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const { id } = await makeEvent(t, { org: ring }, { title: 'S', start: week(0), timezone: 'UTC', recurrence: 'FREQ=WEEKLY;COUNT=30' })
    const path = (query = '') => at({ org: ring }, `/events/${id}${query}`)
    const seen = () => occurrences({ org: ring }, '2026-12-01', '2027-12-31')
    for (let number = 2; number < 10; number++)
      t.is((await ring.owner.patch(path(`?scope=this&occurrence=${week(number)}`), { title: `E${number}` })).status, 200)
    t.is((await ring.owner.delete(path(`?scope=this&occurrence=${week(12)}`))).status, 200)
    const before = await seen()
    t.is(before.length, 29)
    const shifts = [1, -1, 2, -3, 4]
    const answers = await atOnce(20, ring.owners, (client, n) => client.patch(path(), { start: week(shifts[n % shifts.length] ?? 0) }))
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [200], answers.find(({ status }) => status !== 200)?.text)
    t.is((await ring.owner.patch(path(), { start: week(0) })).status, 200)
    t.deepEqual(await seen(), before, 'back again')
  }
})
