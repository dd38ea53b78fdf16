import test from 'ava'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { jobs } from '#shared/features.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { listDeadLetters, resendDeadLetter } from '#shared/platform/jobs/pgboss/dead-letters.ts'
import { addLostOperation, loseAttempt, refuseJobFiles, resetMonitoring } from '#test/platform/jobs/rows.ts'
import { hurry } from '#test/support/hurry.ts'
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
  const [letter] = await listDeadLetters(w.api.services.database)
  t.like(letter, { id: data.job_id, job: exportRecordsJob.name, attempts: exportRecordsJob.retry.limit + 1 })
  t.regex(letter?.error ?? '', /no file today/)
  await acceptFiles()
  const { database, jobQueue } = w.api.services
  const sent = await Promise.all([0, 1, 2, 3, 4].map(() => resendDeadLetter(database, jobQueue, jobs, data.job_id, { alsoAnswered: true })))
  t.is(sent.filter((outcome) => outcome === 'sent').length, 1, 'five repetitions at once send it once')
  t.is(await hurry(w, data.job_id), 'done')
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}/result`)).status, 200)
  t.deepEqual(await listDeadLetters(w.api.services.database), [])
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
