import { randomUUID } from 'node:crypto'
import test from 'ava'
import { fromAnywhere } from '#test/support/account.ts'
import { startApiProcess } from '#test/support/api-process.ts'
import { movingClock } from '#test/support/moving-clock.ts'
import { dropQueuedJobs, expireAccessKey } from '#test/support/rows.ts'
import { type World, world } from '#test/support/world.ts'

/** Two hours ahead, two hours behind, and an hour further every second. */
const wrong = [[2], [-2], Array.from({ length: 1_000 }, (_, hours) => hours)]

const ends: (() => unknown)[] = []
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})

/** A world and three more processes of its API, each with a clock of its own. */
async function open() {
  const w = await world({ TRUST_PROXY: '1' })
  ends.push(w.close)
  const t = { teardown: (end: () => unknown) => void ends.push(end) }
  const [ahead, behind, running] = await Promise.all(wrong.map((hours) => startApiProcess(t, w, movingClock(hours))))
  if (!ahead || !behind || !running) throw new Error('There are three')
  return { w, ahead, behind, running }
}
let opened: ReturnType<typeof open> | undefined
const clocks = () => {
  opened ??= open()
  return opened
}

const account = async ({ org }: World): Promise<string> =>
  `${org.path}/service-accounts/${(await org.owner.post(`${org.path}/service-accounts`, { name: 'Robot' })).data.id}`

test('clocks: processes whose clocks differ count requests in one window, which ends within a minute', async (t) => {
  const { w, ahead, behind, running } = await clocks()
  const address = fromAnywhere()
  const processes = [ahead, behind, running, w.visitor]
  const statuses: Record<number, number> = {}
  for (let call = 0; call < 80; call++) {
    const answer = await processes[call % 4]?.get(`/fn/${w.org.id}/${randomUUID()}`, address)
    if (!answer) continue
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    const [, seconds] = /;t=(\d+)$/.exec(answer.headers.get('ratelimit') ?? '') ?? []
    t.true(Number(seconds) >= 1 && Number(seconds) <= 60, answer.headers.get('ratelimit') ?? 'none')
  }
  t.deepEqual(statuses, { 404: 60, 429: 20 })
})

test('clocks: a key expires by the time of the database, in every process', async (t) => {
  const { w, ahead, behind, running } = await clocks()
  const keys = `${await account(w)}/keys`
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  for (const client of [ahead, behind, running]) {
    const { status, data, text } = await client.as(w.org.owner.token).post(keys, { expires_at: inAnHour })
    t.is(status, 201, text)
    for (const one of [ahead, behind, running]) t.is((await one.as(data.key).get(w.org.path)).status, 200)
    await expireAccessKey(w.db, data.id)
    for (const one of [ahead, behind, running]) t.is((await one.as(data.key).get(w.org.path)).status, 401)
  }
})

test('clocks: a caller waits three seconds for a worker, whatever its process’s clock does', async (t) => {
  const { w, running } = await clocks()
  await w.worker.pools.stop(0)
  const began = performance.now()
  const { status } = await running.as(w.org.owner.token).get(`${w.org.path}/records/locations/export`, { prefer: 'wait=3' })
  t.is(status, 202)
  t.true(performance.now() - began > 2_900)
  await dropQueuedJobs(w.db)
})
