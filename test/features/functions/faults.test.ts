import test from 'ava'
import { readGate } from '#test/features/functions/rows.ts'
import { createFunction, createLatch, handlerOf, invoke, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { times } from '#test/support/depth.ts'
import { eventually } from '#test/support/eventually.ts'
import { childrenOf } from '#test/support/living-processes.ts'
import { prolongActiveJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

/** A world whose functions run in worker processes of their own. */
const withoutRunners = shareWorld(test, {}, { pools: ['data', 'schedule'] })

const interrupted = { result: null, error: 'the run was interrupted', timed_out: false }

test('faults: a killed runner interrupts only its own run; its caller gets an error, and the slot is free at once', async (t) => {
  const w = await withoutRunners()
  const { org } = w
  const worker = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, org, handlerOf(waitAtLatch))
  const latch = await createLatch(org)
  for (let round = 1; round <= times(2, 5); round++) {
    const runs = [1, 2, 3, 4].map((number) => invoke(t, org, id, { latch: latch.id, number }))
    await eventually(async () => (await listStarted(org)).length === 5 * round - 1)
    const waiting = invoke(t, org, id, { latch: latch.id, number: 5 })
    await eventually(async () => (await readGate(w.db, org.id)).waiting === 1)
    for (const pid of childrenOf(worker.pid)) process.kill(pid, 'SIGKILL')
    for (const run of await Promise.all(runs)) t.like(run, { ...interrupted, steps: [{ method: 'records.create', is_error: false }] })
    await eventually(async () => (await listStarted(org)).length === 5 * round)
    for (const pid of childrenOf(worker.pid)) process.kill(pid, 'SIGKILL')
    t.like(await waiting, interrupted)
    t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 0 })
  }
})

test('faults: runs of a killed worker are answered as interrupted, and waiting calls run on another worker', async (t) => {
  const w = await withoutRunners()
  const { org } = w
  const first = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const latch = await createLatch(org)
  const runs = [0, 1, 2, 3].map((number) => invoke(t, org, id, { latch: latch.id, number }))
  await eventually(async () => (await listStarted(org)).length === 4)
  const waiting = [4, 5].map((number) => invoke(t, org, id, { latch: latch.id, number }))
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 2)
  await startWorkerProcess(t, w, 'functions')
  const runners = childrenOf(first.pid)
  // The queue itself, which hands such jobs on after ten seconds or more, is kept out of it.
  await prolongActiveJobs(w.db, org.id)
  await first.kill('SIGKILL')
  for (const run of await Promise.all(runs)) t.like(run, { ...interrupted, steps: [], logs: [] })
  await latch.open()
  t.deepEqual(
    (await Promise.all(waiting)).map(({ result }) => result),
    [4, 5],
  )
  t.deepEqual((await listStarted(org)).sort(), [0, 1, 2, 3, 4, 5], 'none was begun twice')
  t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 0 })
  for (const pid of runners) t.throws(() => process.kill(pid, 0), undefined, 'a runner does not outlive its worker')
  const { runs: kept } = (await org.owner.get(`${org.path}/functions/${id}/runs`)).data
  t.is(kept.filter(({ ending }: { ending: string }) => ending === 'interrupted').length, 4)
  await w.drain()
})

test('faults: a worker that receives SIGTERM lets its runs end', async (t) => {
  const w = await withoutRunners()
  const { org } = w
  const first = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const latch = await createLatch(org)
  const run = invoke(t, org, id, { latch: latch.id, number: 7 })
  await eventually(async () => (await listStarted(org)).length === 1)
  await first.kill('SIGTERM')
  const next = invoke(t, org, id, { latch: latch.id, number: 8 })
  await latch.open()
  t.is((await run).result, 7)
  await startWorkerProcess(t, w, 'functions')
  t.is((await next).result, 8)
})

test('faults: a worker that receives SIGTERM interrupts runs that do not end within STOP_WITHIN_SECONDS, and their callers get an error', async (t) => {
  const w = await withoutRunners()
  const { org } = w
  const patient = await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const latch = await createLatch(org)
  const long = invoke(t, org, id, { latch: latch.id, number: 7 })
  await eventually(async () => (await listStarted(org)).length === 1)
  await patient.kill('SIGTERM')
  const first = await startWorkerProcess(t, w, 'functions', { STOP_WITHIN_SECONDS: '1' })
  const run = invoke(t, org, id, { latch: latch.id, number: 8 })
  await eventually(async () => (await listStarted(org)).length === 2)
  await first.kill('SIGTERM')
  t.like(await run, { ...interrupted, steps: [{ method: 'records.create' }] })
  // The worker that was told to stop before has more time: it does not end with the other one.
  await latch.open()
  t.is((await long).result, 7)
  // A job that took longer to end is in the queue again, and its operation has ended: the next worker completes it.
  await startWorkerProcess(t, w, 'functions')
  await w.drain()
})
