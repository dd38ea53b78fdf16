import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startEmbedded } from '#scripts/postgres/embedded.ts'
import { durableProfile } from '#scripts/postgres/profile.ts'
import { release } from '#shared/release.ts'
import { readGate, terminateSessions } from '#test/features/functions/rows.ts'
import { createFunction, createLatch, handlerOf, invoke, listStarted } from '#test/features/functions/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { type World, world } from '#test/support/world.ts'

/** Shows that it has started, and waits for the latch, also through failures of the database. */
const patient = handlerOf(`
  await sdk.records.create('locations', { name: 'in', address: String(input.number) })
  for (;;) try {
    if ((await sdk.records.get('locations', input.latch)).values.address === 'open') return input.number
    await new Promise((resolve) => setTimeout(resolve, 10))
  } catch (error) { if (!['INTERNAL', 'OVERLOADED', 'UNAVAILABLE'].includes(error.code)) throw error }`)

/** Calls in the middle of whose runs `fault` happens are answered, and no run is begun a second time. */
async function outlasts(t: ExecutionContext, w: World, fault: () => Promise<void>): Promise<void> {
  const { org } = w
  const { id } = await createFunction(t, org, patient)
  const latch = await createLatch(org)
  const runs = [0, 1, 2, 3].map((number) => invoke(t, org, id, { latch: latch.id, number }))
  await eventually(async () => (await listStarted(org)).length === 4)
  const waiting = [4, 5].map((number) => invoke(t, org, id, { latch: latch.id, number }))
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 2)
  await fault()
  await latch.open()
  const answers = await Promise.all([...runs, ...waiting])
  t.deepEqual(
    answers.map(({ result }) => result),
    [0, 1, 2, 3, 4, 5],
    JSON.stringify(answers),
  )
  t.deepEqual((await listStarted(org)).sort(), [0, 1, 2, 3, 4, 5], 'none was begun twice')
  t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 0 })
}

test('database faults: calls survive the loss of every connection to the database', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await outlasts(t, w, async () => {
    for (let round = 0; round < 3; round++) await terminateSessions(w.db)
  })
})

test('database faults: calls survive crashes of the database', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-crash-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const postgres = await startEmbedded(join(folder, 'data'), durableProfile, () => undefined)
  t.teardown(postgres.stop)
  await release(postgres.url)
  const w = await world({ DATABASE_URL: postgres.url, LOG_LEVEL: 'silent' })
  t.teardown(w.close)
  await outlasts(t, w, async () => {
    const isUp = async () => (await fetch(`${w.visitor.root}/readyz`)).status === 200
    const server = async () => (await readFile(join(folder, 'data', 'postmaster.pid'), 'latin1').catch(() => '')).split('\n', 1)[0]
    // A run has 30 s, and a crash with its recovery takes one to five, as busy as the machine is.
    for (let crash = 0; crash < 2; crash++) {
      const killed = await server()
      process.kill(Number(killed), 'SIGKILL')
      await eventually(async () => ![killed, ''].includes(await server()))
      await eventually(isUp)
    }
  })
})
