import test from 'ava'
import { recordRequest } from '#api/http/metrics.ts'
import { sections } from '#api/routes.ts'
import { jobs } from '#shared/features.ts'
import { jobWaitSeconds, recordAttempt } from '#shared/platform/jobs/metrics.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { createLine } from '#test/features/queues/support.ts'
import { deleteEvents } from '#test/platform/events/rows.ts'
import { ageEvents, ageGatedJob, ageJobs, ageWaitingJobs, waitForRetry } from '#test/scripts/rows.ts'
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
  const names = ['functions.save', 'functions.invoke'] as const
  const before = await Promise.all(names.map(waits))
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
  for (const [index, { count, seconds }] of (await Promise.all(names.map(waits))).entries()) {
    t.is(count - (before[index]?.count ?? 0), 1)
    const waited = seconds - (before[index]?.seconds ?? 0)
    t.true(waited >= 3_600 && waited < 4_000, `${names[index]}: ${waited}`)
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
    await deleteEvents(w.db)
    await w.close()
  })
  await w.worker.pools.stop(0)
  await makeRule(w)
  for (const name of ['x', 'y']) await w.org.owner.post(locationsOf(w), { values: { name } })
  await ageEvents(w.db)
  const metrics = await registry.metrics()
  t.regex(metrics, /^kontor_queue_jobs\{queue="events",state="waiting"\} 2$/m)
  const [, seconds] = /^kontor_queue_oldest_seconds\{queue="events"\} (\S+)$/m.exec(metrics) ?? []
  t.true(Number(seconds) >= 3_600 && Number(seconds) < 4_000, seconds)
  t.regex(metrics, /^kontor_event_inbox_rows 2$/m)
  const [, age] = /^kontor_event_inbox_oldest_seconds (\S+)$/m.exec(metrics) ?? []
  t.true(Number(age) >= 3_600 && Number(age) < 4_000, age)
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

test('dashboard: a job that waits for another try counts in the age of its queue', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await dropQueuedJobs(w.db)
    await w.close()
  })
  await w.worker.pools.stop(0)
  const saved = await w.org.owner.post(`${w.org.path}/functions`, { name: 'Echo', source: echo }, later)
  t.is(saved.status, 202)
  await ageJobs(w.db, 'functions.save')
  await waitForRetry(w.db, 'functions.save')
  const [, seconds] = /^kontor_queue_oldest_seconds\{queue="functions.save"\} (\S+)$/m.exec(await registry.metrics()) ?? []
  t.true(Number(seconds) >= 3_600 && Number(seconds) < 4_000, seconds)
})

test('dashboard: of two processes with the schedule pool one reports the queues, and the other once it is gone', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const start = () => startWorker(w.config, ['schedule'], createLogger('worker', 'silent'))
  const [first, second] = [await start(), await start()]
  t.teardown(() => second.stop(0))
  // The registry of this thread counts for the process that was started last.
  const reports = async () => /^kontor_queue_jobs\{/m.test(await registry.metrics())
  t.false(await reports())
  await first.stop(0)
  t.true(await reports())
})

test('dashboard: the metrics of an API whose every route was answered in three ways are below 200 KB', async (t) => {
  const w = await world()
  t.teardown(w.close)
  for (const { routes } of sections) {
    for (const { method, path, tag } of routes)
      for (const status of [200, 404, 500]) recordRequest({ method, route: path, tag, status }, 0.2)
  }
  const { text } = await w.visitor.get('/metrics')
  t.true(text.includes('kontor_http_requests_total'))
  t.true(text.length < 200_000, `${text.length} bytes`)
})

test('dashboard: the metrics of a worker whose every job has ended in three ways are below 200 KB', async (t) => {
  for (const { name } of jobs) {
    jobWaitSeconds.observe({ queue: name }, 1)
    for (const outcome of ['completed', 'failed', 'rested'] as const) recordAttempt(name, null, outcome, 1_000)
  }
  const text = await registry.metrics()
  t.true(text.includes('kontor_job_attempts_total'))
  t.true(text.length < 200_000, `${text.length} bytes`)
})
