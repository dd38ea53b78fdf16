import test, { type ExecutionContext } from 'ava'
import { invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { readGate } from '#test/features/functions/rows.ts'
import { createFunction, handlerOf } from '#test/features/functions/support.ts'
import { pausing } from '#test/platform/jobs/pausing.ts'
import { addGatedBacklog, readAdmitted } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { hurry } from '#test/support/hurry.ts'
import { type World, world } from '#test/support/world.ts'
import { startWorker } from '#workers/worker.ts'

const cause = { actorType: 'user', requestId: 'r', depth: 0, kind: 'request', id: null } as const

/** A world whose functions no worker runs yet, and a function. */
async function open(t: ExecutionContext) {
  const w = await world({}, ['data', 'flows', 'mail', 'schedule'])
  t.teardown(w.close)
  const { org } = w
  // Its engine is needed to save a function only.
  const saver = await startFunctions(w)
  const { id } = await createFunction(t, org, handlerOf('return input'))
  await saver.stop(1_000)
  const invoke = async (input: number): Promise<string> =>
    (await org.owner.post(`${org.path}/functions/${id}/invoke`, { input }, { prefer: 'respond-async' })).data.job_id
  const run = (input: number): Promise<string> => {
    const payload = { functionId: id, input: JSON.stringify(input), rights: 'lesser' as const }
    const { jobQueue, database } = w.api.services
    return jobQueue.enqueue(database, runFunctionJob, { workspaceId: org.id, cause: { ...cause, actorId: org.ownerId } }, payload)
  }
  return { w, org, invoke, run, ...pausing(w) }
}

const admittedKinds = async ({ db, org }: World): Promise<string[]> => (await readAdmitted(db, org.id)).map(({ queue }) => queue)

const startFunctions = (w: World) => startWorker(w.config, ['functions'], createLogger('test', 'silent'))

test('pause gates: admitted jobs of a paused kind give their slots to other kinds, and keep their place', async (t) => {
  const { w, org, invoke, run, pause, resume } = await open(t)
  const invoked: string[] = []
  for (let n = 0; n < 6; n++) invoked.push(await invoke(n))
  t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 2 })
  await pause(invokeFunctionJob.name)
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 6)
  const ran: string[] = []
  for (let n = 0; n < 5; n++) ran.push(await run(n))
  t.deepEqual(await admittedKinds(w), Array(4).fill(runFunctionJob.name))
  const first = await startFunctions(w)
  for (const id of ran) t.is(await hurry(w, id), 'done')
  t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 6 })
  await first.stop(1_000)
  await resume(invokeFunctionJob.name)
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 2)
  t.deepEqual(
    (await readAdmitted(w.db, org.id)).map(({ id }) => id),
    invoked.slice(0, 4),
    'those that came first',
  )
  const second = await startFunctions(w)
  t.teardown(() => second.stop(1_000))
  for (const id of invoked) t.is(await hurry(w, id), 'done')
  t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 0 })
})

test('pause gates: a slot that is taken while nobody else waits is given up when another kind comes', async (t) => {
  const { w, org, invoke, run, pause, resume } = await open(t)
  const invoked = [await invoke(0), await invoke(1), await invoke(2), await invoke(3)]
  await pause(invokeFunctionJob.name)
  const ran = [await run(0), await run(1), await run(2), await run(3)]
  await eventually(async () => (await admittedKinds(w)).every((name) => name === runFunctionJob.name))
  t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 4 })
  await resume(invokeFunctionJob.name)
  t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 4 }, 'who was admitted stays so')
  const worker = await startFunctions(w)
  t.teardown(() => worker.stop(1_000))
  for (const id of [...ran, ...invoked]) t.is(await hurry(w, id), 'done')
})

test('pause gates: beside many waiting jobs of a paused kind, admitting another kind takes no longer', async (t) => {
  const { w, org, run, pause, resume } = await open(t)
  const admit = async (): Promise<number> => {
    const began = performance.now()
    await w.api.services.jobQueue.gates.admit(org.id, runFunctionJob.gate?.name ?? '')
    return performance.now() - began
  }
  await pause(invokeFunctionJob.name)
  const ids = [await run(0)]
  const alone = await admit()
  const remove = await addGatedBacklog(w.db, org.id, 50_000)
  ids.push(await run(1))
  t.deepEqual(await admittedKinds(w), [runFunctionJob.name, runFunctionJob.name])
  t.is((await readGate(w.db, org.id)).waiting, 50_000)
  const times = [await admit(), await admit(), await admit(), await admit(), await admit()].sort((a, b) => a - b)
  t.log(`${alone.toFixed(1)} ms alone, ${times[2]?.toFixed(1)} ms beside 50,000`)
  await remove()
  await resume(invokeFunctionJob.name)
  const worker = await startFunctions(w)
  t.teardown(() => worker.stop(1_000))
  for (const id of ids) t.is(await hurry(w, id), 'done')
})
