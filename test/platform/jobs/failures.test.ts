import test from 'ava'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { jobs } from '#shared/features.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { actOnJob } from '#shared/platform/jobs/operator/act.ts'
import { findJob } from '#shared/platform/jobs/operator/find-jobs.ts'
import { addLostOperation, loseAttempt, refuseJobFiles, resetMonitoring } from '#test/platform/jobs/rows.ts'
import { hurry } from '#test/support/hurry.ts'
import { countDeadLetters } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const locations = (w: World) => `${w.org.path}/records/locations`

test('failures: a job that keeps failing is retried, fails for its caller and can be sent again', async (t) => {
  const w = await shared()
  const acceptFiles = await refuseJobFiles(w.db)
  const { data } = await w.org.owner.get(`${locations(w)}/export`, { prefer: 'respond-async' })
  t.is(await hurry(w, data.job_id), 'failed')
  const job = await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}`)
  t.deepEqual(job.data.error, { code: 'INTERNAL', message: 'Something went wrong on our side' })
  await w.drain()
  const { database, jobQueue, now } = w.api.services
  const failed = await findJob(database, jobs, data.job_id)
  t.like(failed, { kind: exportRecordsJob.name, state: 'failed', error: { code: 'INTERNAL' } })
  t.is(failed.attempts.length, exportRecordsJob.retry.limit + 1)
  for (const { error, ended_at } of [...failed.attempts, { ...failed, error: failed.error?.message, ended_at: '' }]) {
    t.regex(error ?? '', /no file today/)
    t.not(ended_at, null)
  }
  await acceptFiles()
  const retry = () => database.transaction((tx) => actOnJob({ db: tx, jobQueue, jobs, now }, 'retry', data.job_id, { alsoAnswered: true }))
  const sent = await Promise.allSettled([0, 1, 2, 3, 4].map(retry))
  t.is(sent.filter(({ status }) => status === 'fulfilled').length, 1, 'five repetitions at once send it once')
  t.is(await hurry(w, data.job_id), 'done')
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}/result`)).status, 200)
  t.is(await countDeadLetters(w.db), 0)
})

test('failures: an operation without a job is completed as failed, so that no caller waits forever', async (t) => {
  const w = await shared()
  const { database, jobQueue } = w.api.services
  const waiting = w.api.services.waiter.wait(await addLostOperation(w.db, w.org.id), 60_000)
  await database.transaction((tx) => failAbandonedOperations(tx, jobQueue))
  t.like(await waiting, { status: 'failed', error: { code: 'INTERNAL' } })
})

test('failures: the supervision of the queue finds attempts of dead workers', async (t) => {
  const w = await shared()
  const { data } = await w.org.owner.get(`${locations(w)}/export`, { prefer: 'respond-async' })
  await w.drain()
  await loseAttempt(w.db, data.job_id)
  await resetMonitoring(w.db)
  await w.worker.jobQueue.boss.supervise()
  t.is(await hurry(w, data.job_id), 'done')
})
