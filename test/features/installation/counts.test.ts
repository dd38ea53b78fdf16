import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { readOverview } from '#shared/features/installation/overview.ts'
import { jobs } from '#shared/features.ts'
import { describeKinds } from '#shared/platform/jobs/figures/kinds.ts'
import { addFigures } from '#shared/platform/jobs/figures/store.ts'
import { findQueueDepths } from '#shared/platform/jobs/pgboss/counts/queue-depths.ts'
import { storeStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { storeMailCounts } from '#shared/platform/mail/counts-store.ts'
import { follow } from '#test/core/events/following.ts'
import { addMail, watchCounts } from '#test/features/installation/rows.ts'
import { addDeadLetter, addOperation, deferQueuedJob, holdJob } from '#test/platform/jobs/operator/rows.ts'
import { fileExport, operatorOf } from '#test/platform/jobs/operator/support.ts'
import { deleteMails } from '#test/platform/mail/rows.ts'
import { ageEvents } from '#test/scripts/rows.ts'
import { numberEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { world } from '#test/support/world.ts'
import { registry } from '#workers/metrics.ts'

const hourMs = 3_600_000

test('installation counts: waiting, held and failed jobs are apart, in the overview and by kind', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  const ids = [await fileExport(w.org), await fileExport(w.org), await fileExport(w.org)] as const
  const [deferred, delayed] = ids
  await deferQueuedJob(w.db, deferred, w.org.id)
  await holdJob(w.db, delayed, true)
  for (let count = 0; count < 3; count++) await addDeadLetter(w.db, randomUUID(), w.org.id)
  const error = { code: 'VALIDATION_ERROR', message: 'The file has no header' }
  for (let count = 0; count < 2; count++)
    await addOperation(w.db, { status: 'failed', workspaceId: w.org.id, error, createdAt: now().toISOString() })
  await storeStoppedJobs(database)
  const expected = { waiting: 1, held: 2, running: 0, failed: 5 }
  const read = async () => (await readOverview({ db: database, blobs, now })).jobs
  // pg-boss counts what waits every 5 s.
  await eventually(
    async () => isDeepStrictEqual(await read(), expected),
    30_000,
    async () => JSON.stringify(await read()),
  )
  const kinds = await describeKinds(database, jobs, now())
  t.like(
    kinds.find(({ kind }) => kind === 'records.export'),
    expected,
  )
  t.is(
    (await findQueueDepths(database)).find(({ job }) => job === 'dead-letters'),
    undefined,
    'a dead letter waits for nothing',
  )
  await holdJob(w.db, delayed, false)
  for (const id of ids) await operatorOf(w).act('cancel', id)
})

test('installation counts: numbers fall to zero again, and a count without a change writes nothing', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  const id = await fileExport(w.org)
  await deferQueuedJob(w.db, id, w.org.id)
  await addMail(w.db, 'queued', now())
  const sweep = () => Promise.all([storeStoppedJobs(database), storeMailCounts(database)])
  await sweep()
  const read = async () => {
    const { jobs, mail } = await readOverview({ db: database, blobs, now })
    return [jobs.held, mail.waiting]
  }
  t.deepEqual(await read(), [1, 1])
  const written = await watchCounts(w.db)
  await sweep()
  t.is(await written(), 0)
  await operatorOf(w).act('cancel', id)
  await deleteMails(w.db)
  await Promise.all([sweep(), sweep(), sweep()])
  t.deepEqual(await read(), [0, 0])
  t.is(await written(), 2)
})

test('installation counts: the outbox has its waiting, uncertain and newly failed mails', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  const ago = (hours: number) => new Date(now().getTime() - hours * hourMs)
  const none = await readOverview({ db: database, blobs, now })
  t.deepEqual(none.mail, { waiting: 0, oldest: null, uncertain: 0, failed_day: 0 })
  for (const [status, hours] of [
    ['queued', 2],
    ['sending', 3],
    ['uncertain', 40],
    ['failed', 23.9],
    ['failed', 24.1],
    ['sent', 50],
  ] as const)
    await addMail(w.db, status, ago(hours))
  await storeMailCounts(database)
  const { mail } = await readOverview({ db: database, blobs, now })
  t.like(mail, { waiting: 2, uncertain: 1, failed_day: 1 })
  t.is(Math.round((now().getTime() - Date.parse(mail.oldest ?? '')) / hourMs), 3)
})

test('installation counts: a worker of the pool schedule keeps them, and shows them as metrics', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  await addDeadLetter(w.db, randomUUID(), w.org.id)
  await addMail(w.db, 'uncertain', now())
  for (const task of ['counts of stopped jobs', 'counts of mails']) await runMaintenanceTask(w, task)
  const read = () => readOverview({ db: database, blobs, now })
  await eventually(async () => (await read()).jobs.failed === 1 && (await read()).mail.uncertain === 1)
  const text = await registry.metrics()
  t.regex(text, /^kontor_queue_stopped_jobs\{queue="records\.export",state="given_up"\} 1$/m)
  t.notRegex(text, /^kontor_queue_stopped_jobs\{queue="records\.export",state="held"\}/m)
  t.notRegex(text, /^kontor_queue_\w+\{queue="dead-letters"/m)
})

test('installation counts: the share of the busiest workspace is of the last ten minutes, and names none', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const { database, now } = w.api.services
  const read = async () => Number(/^kontor_job_top_workspace_share (\S+)$/m.exec(await registry.metrics())?.[1])
  t.is(await read(), 0)
  const other = await createOrg(w, 'Other')
  const figures = { calls: 0, computingMs: 0, databaseMs: 0, jobs: 1 }
  const add = (workspaceId: string, jobMs: number, at = now()) => addFigures(database, at, [], [], [{ ...figures, workspaceId, jobMs }])
  await add(w.org.id, 3_000_000)
  await add(other.id, 9_000_000)
  await add(w.org.id, 90_000_000, new Date(now().getTime() - 12 * 60_000))
  const share = await read()
  t.true(share > 0.74 && share < 0.76, String(share))
})

test('installation counts: the overview and the metrics tell how far the numbering of events is behind', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  const read = async () => (await readOverview({ db: database, blobs, now })).feed
  await numberEvents(w)
  t.deepEqual(await read(), { waiting: 0, lag_ms: 0 })
  for (const name of ['a', 'b']) await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name } })
  const fresh = await read()
  t.is(fresh.waiting, 2)
  t.true(fresh.lag_ms < 60_000)
  await ageEvents(w.db)
  const late = await read()
  t.is(late.waiting, 2)
  t.true(late.lag_ms >= hourMs && late.lag_ms < hourMs + 60_000, String(late.lag_ms))
  const observed = async (bound: string) =>
    Number(new RegExp(`^kontor_event_lag_seconds_bucket\\{le="${bound}"\\} (\\d+)$`, 'm').exec(await registry.metrics())?.[1])
  const [below, all] = [await observed('60'), await observed('\\+Inf')]
  await numberEvents(w)
  t.deepEqual([(await observed('60')) - below, (await observed('\\+Inf')) - all], [0, 2])
  t.deepEqual(await read(), { waiting: 0, lag_ms: 0 })
})

test('installation counts: the overview tells how many streams are open, and how long the first try of a delivery waits', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database, blobs, now } = w.api.services
  const read = async (at = now) => {
    const { streams, webhooks } = await readOverview({ db: database, blobs, now: at })
    return { streams, webhooks }
  }
  const none = { active: 0, failing: 0, disabled: 0, oldest_seconds: 0, waiting: 0, delivered: 0, failed: 0 }
  t.deepEqual(await read(), { streams: 0, webhooks: none })
  const stream = await follow(t, w, w.org.owner)
  t.is((await read()).streams, 1)
  const later = new Date(now().getTime() + 60_000)
  t.is((await read(() => later)).streams, 0, 'a place that has expired is no stream')
  stream.cut()
  await eventually(async () => (await read()).streams === 0)
  const { data } = await w.org.owner.post(`${w.org.path}/webhooks`, { url: 'https://receiver.example/', types: ['records.*'] })
  t.deepEqual((await read()).webhooks, { ...none, active: 1 })
  await w.org.owner.post(`${w.org.path}/webhooks/${data.id}/test`, {})
  const { oldest_seconds, waiting } = (await read(() => later)).webhooks
  t.is(waiting, 1)
  t.true(oldest_seconds >= 30 && oldest_seconds <= 60, String(oldest_seconds))
  await w.org.owner.patch(`${w.org.path}/webhooks/${data.id}`, { enabled: false })
  t.like((await read()).webhooks, { disabled: 1, waiting: 0, failed: 1 })
  t.is((await read(() => new Date(later.getTime() + hourMs))).webhooks.failed, 0)
})
