import test from 'ava'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { createLine } from '#test/features/queues/support.ts'
import { deleteDispatches } from '#test/platform/events/rows.ts'
import { ageDispatches, ageGatedJob, ageJobs, ageWaitingJobs } from '#test/scripts/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { countOpenOperations, deleteJobs, dropQueuedJobs } from '#test/support/rows.ts'
import { echo } from '#test/support/things.ts'
import { type World, world } from '#test/support/world.ts'
import { registry } from '#workers/metrics.ts'
import { startWorker } from '#workers/worker.ts'

const later = { prefer: 'respond-async' }

const makeEcho = async ({ org }: World): Promise<string> =>
  (await org.owner.post(`${org.path}/functions`, { name: 'Echo', source: echo })).data.id

test('dashboard: the waiting time of jobs is measured by job, from enqueueing to the first attempt', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const waits = async (job: string) => {
    const metrics = await registry.metrics()
    const read = (what: string) =>
      Number(new RegExp(`^kontor_job_wait_seconds_${what}\\{queue="${job}"\\} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0)
    return { count: read('count'), seconds: read('sum') }
  }
  const call = `${w.org.path}/functions/${await makeEcho(w)}/invoke`
  const jobs = ['functions.save', 'functions.invoke'] as const
  const before = await Promise.all(jobs.map(waits))
  await w.worker.pools.stop(0)
  const saved = await w.org.owner.post(`${w.org.path}/functions`, { name: 'Echo', source: echo }, later)
  const invoked = await w.org.owner.post(call, {}, later)
  t.deepEqual([saved.status, invoked.status], [202, 202])
  await ageJobs(w.db, 'functions.save')
  // It arrived at its gate an hour ago and was let in just now.
  await ageGatedJob(w.db, invoked.data.job_id)
  const worker = await startWorker(w.config, ['functions'], createLogger('worker', 'silent'))
  await eventually(async () => (await countOpenOperations(w.db, w.org.id)) === 0)
  await worker.stop(1_000)
  for (const [index, { count, seconds }] of (await Promise.all(jobs.map(waits))).entries()) {
    t.is(count - (before[index]?.count ?? 0), 1)
    const waited = seconds - (before[index]?.seconds ?? 0)
    t.true(waited >= 3_600 && waited < 4_000, `${jobs[index]}: ${waited}`)
  }
})

test('dashboard: a call that waits at its gate counts as the next of its queue', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await dropQueuedJobs(w.db)
    await w.close()
  })
  const call = `${w.org.path}/functions/${await makeEcho(w)}/invoke`
  await w.worker.pools.stop(0)
  for (let count = 0; count < 6; count++) t.is((await w.org.owner.post(call, {}, later)).status, 202)
  await deleteJobs(w.db, 'functions.invoke')
  await ageWaitingJobs(w.db)
  const metrics = await registry.metrics()
  t.regex(metrics, /^kontor_queue_jobs\{queue="functions.invoke",state="waiting"\} 2$/m)
  const [, seconds] = /^kontor_queue_oldest_seconds\{queue="functions.invoke"\} (\S+)$/m.exec(metrics) ?? []
  t.true(Number(seconds) >= 3_600 && Number(seconds) < 4_000, seconds)
})

test('dashboard: a process with the schedule pool exposes the depth of every queue and the age of its oldest job', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await deleteDispatches(w.db)
    await w.close()
  })
  await w.worker.pools.stop(0)
  await makeRule(w)
  for (const name of ['x', 'y']) await w.org.owner.post(locationsOf(w), { values: { name } })
  await ageDispatches(w.db)
  const metrics = await registry.metrics()
  t.regex(metrics, /^kontor_queue_jobs\{queue="events",state="waiting"\} 2$/m)
  const [, seconds] = /^kontor_queue_oldest_seconds\{queue="events"\} (\S+)$/m.exec(metrics) ?? []
  t.true(Number(seconds) >= 3_600 && Number(seconds) < 4_000, seconds)
  t.regex(metrics, /^kontor_queue_jobs\{queue="records.import",state="waiting"\} 0$/m)
  t.regex((await w.visitor.get('/metrics')).text, /^kontor_database_connections\{state="busy"\} \d+$/m)
})

test('dashboard: items of work queues are counted by status, and claims and expired claims are counted', async (t) => {
  let ahead = 0
  const w = await world({}, undefined, () => new Date(Date.now() + ahead))
  t.teardown(w.close)
  const read = async () => {
    const metrics = await registry.metrics()
    return ['claims', 'leases_expired'].map((name) =>
      Number(new RegExp(`^kontor_queue_${name}_total (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0),
    )
  }
  const line = await createLine(t, w.org, { settings: { lease_seconds: 1 } })
  const [a = ''] = await line.add(['a', 'b', 'c'])
  await line.move(a, 'out')
  const [claimed = 0, expired = 0] = await read()
  await line.claim({ count: 2 })
  ahead = 2_000
  await line.claim({ count: 1 })
  t.deepEqual(await read(), [claimed + 3, expired + 1])
  const metrics = await registry.metrics()
  t.regex(metrics, /^kontor_queue_items\{status="open"\} 2$/m)
  t.regex(metrics, /^kontor_queue_items\{status="done"\} 1$/m)
})
