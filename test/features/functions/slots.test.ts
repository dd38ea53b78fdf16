import test from 'ava'
import { runFunctionJob } from '#shared/features/functions/jobs.ts'
import { addGatedJob, deleteGatedJobs, readCreatedNames, readGate } from '#test/features/functions/rows.ts'
import { createFunction, createLatch, handlerOf, invoke, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg, createPerson } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const shared = shareWorld(test)

test('slots: four runs of a workspace are admitted, the others wait in order, and each end admits the next', async (t) => {
  const w = await shared()
  const { org } = w
  const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return input.number`))
  const latches = await Promise.all(Array.from({ length: 8 }, () => createLatch(org)))
  const runs: Promise<unknown>[] = []
  for (const [number, latch] of latches.entries()) {
    runs.push(invoke(t, org, id, { latch: latch.id, number }))
    await eventually(async () => (await readGate(w.db, org.id)).admitted + (await readGate(w.db, org.id)).waiting === number + 1)
  }
  await eventually(async () => (await listStarted(org)).length === 4)
  t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 4 })
  t.deepEqual((await listStarted(org)).sort(), [0, 1, 2, 3])
  for (const [place, number] of [2, 0, 3, 1].entries()) {
    await latches[number]?.open()
    await runs[number]
    await eventually(async () => (await listStarted(org)).length === 5 + place)
  }
  t.deepEqual((await listStarted(org)).slice(4), [4, 5, 6, 7])
  for (const latch of latches) await latch.open()
  t.deepEqual(
    (await Promise.all(runs)).map((run) => (run as { result: number }).result),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
  t.deepEqual(await readGate(w.db, org.id), { admitted: 0, waiting: 0 })
})

test('slots: a hundred calls on three worker processes are all answered, at most four at a time', async (t) => {
  const w = await shared()
  const { org } = w
  await startWorkerProcess(t, w, 'functions')
  await startWorkerProcess(t, w, 'functions')
  const { id } = await createFunction(
    t,
    org,
    handlerOf(`await sdk.records.create('locations', { name: 'in' })
      while ((await sdk.records.list('locations', { filter: [{ field: 'name', value: 'in' }], limit: 4 })).records.length < 4);
      await new Promise((resolve) => setTimeout(resolve, input % 20))
      await sdk.records.create('locations', { name: 'out' })
      return input`),
  )
  const runs = await Promise.all(Array.from({ length: 100 }, (_, number) => invoke(t, org, id, number)))
  t.deepEqual(
    runs.map(({ result }) => result),
    Array.from({ length: 100 }, (_, number) => number),
  )
  const names = await readCreatedNames(w.db, org.id)
  t.is(names.length, 200)
  let [live, most] = [0, 0]
  for (const name of names) {
    live += name === 'in' ? 1 : -1
    most = Math.max(most, live)
  }
  t.is(most, 4)
})

test('slots: a workspace with many waiting runs does not delay another workspace', async (t) => {
  const w = await shared()
  const { org } = w
  const latch = await createLatch(org)
  const { id } = await createFunction(t, org, handlerOf(waitAtLatch))
  const flood = Array.from({ length: 60 }, (_, number) => invoke(t, org, id, { latch: latch.id, number }))
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 56)
  const other = await createOrg(w, 'Other')
  const honest = await createFunction(t, other, handlerOf('return 1'))
  for (let run = 0; run < 10; run++) t.is((await invoke(t, other, honest.id)).result, 1)
  t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 56 }, 'they were answered while the flood stood')
  await latch.open()
  await Promise.all(flood)
})

test('slots: the database refuses a fifth slot', async (t) => {
  const w = await shared()
  const put = (slot: number) => addGatedJob(w.db, w.org.id, slot)
  for (const slot of [1, 2, 3, 4]) await put(slot)
  await t.throwsAsync(put(4), { message: /gated_jobs_slot/ })
  await t.throwsAsync(put(5), { message: /gated_jobs_check/ })
  await deleteGatedJobs(w.db, w.org.id)
})

test('slots: calls that a caller waits for precede calls on behalf of other features', async (t) => {
  const w = await shared()
  const { org, api } = w
  const [first, second] = [await createLatch(org), await createLatch(org)]
  const { id } = await createFunction(t, org, handlerOf(waitAtLatch))
  const blockers = [0, 1, 2, 3].map((number) => invoke(t, org, id, { latch: first.id, number }))
  await eventually(async () => (await listStarted(org)).length === 4)
  const cause = { actorId: org.ownerId, actorType: 'user', requestId: 'r', depth: 0, kind: 'request', id: null } as const
  for (const number of [10, 11, 12, 13]) {
    const payload = { functionId: id, input: JSON.stringify({ latch: second.id, number }), rights: 'lesser' as const }
    await api.services.jobQueue.enqueue(api.services.database, runFunctionJob, { workspaceId: org.id, cause }, payload)
  }
  const urgent = [4, 5, 6, 7].map((number) => invoke(t, org, id, { latch: second.id, number }))
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 8)
  await first.open()
  await eventually(async () => (await listStarted(org)).length === 8)
  t.deepEqual((await listStarted(org)).slice(4).sort(), [4, 5, 6, 7])
  await second.open()
  await Promise.all([...blockers, ...urgent])
  await w.drain()
  t.deepEqual((await listStarted(org)).slice(8).sort(), [10, 11, 12, 13])
})

test('slots: three workspaces of one owner run twelve functions, and another owner’s calls are answered meanwhile', async (t) => {
  const w = await shared()
  const owner = await createPerson(w, 'Anna')
  const orgs = await Promise.all(['A', 'B', 'C'].map((name) => createOrg(w, name, 'paid', owner)))
  const held = await Promise.all(
    orgs.map(async (org) => {
      const { id } = await createFunction(t, org, handlerOf(waitAtLatch))
      const latch = await createLatch(org)
      return { org, latch, runs: [0, 1, 2, 3].map((number) => invoke(t, org, id, { latch: latch.id, number })) }
    }),
  )
  for (const org of orgs) await eventually(async () => (await listStarted(org)).length === 4)
  const honest = await createFunction(t, w.org, handlerOf('return 1'))
  for (let run = 0; run < 3; run++) t.is((await invoke(t, w.org, honest.id)).result, 1)
  for (const { org } of held)
    t.deepEqual(await readGate(w.db, org.id), { admitted: 4, waiting: 0 }, 'they were answered while all twelve ran')
  for (const { latch, runs } of held) {
    await latch.open()
    await Promise.all(runs)
  }
})
