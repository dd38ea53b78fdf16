import test from 'ava'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { jobs } from '#shared/features.ts'
import { listDeadLetters, resendDeadLetter } from '#shared/platform/jobs/dead-letters.ts'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { hurry } from '#test/support/hurry.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const locations = (w: World) => `${w.org.path}/records/locations`

test('failures: a job that keeps failing is tried again, fails for its caller, and can be sent again', async (t) => {
  const w = await shared()
  await w.db.query(`create function broken() returns trigger language plpgsql as $$ begin raise exception 'no file today'; end $$`)
  await w.db.query('create trigger broken before insert on job_files for each row execute function broken()')
  const { data } = await w.org.owner.get(`${locations(w)}/export`, { prefer: 'respond-async' })
  t.is(await hurry(w, data.job_id), 'failed')
  const job = await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}`)
  t.deepEqual(job.data.error, { code: 'INTERNAL', message: 'Something went wrong on our side' })
  await w.drain()
  const [letter] = await listDeadLetters(w.api.services.database)
  t.like(letter, { id: data.job_id, job: exportRecordsJob.name, attempts: exportRecordsJob.retry.limit + 1 })
  t.regex(letter?.error ?? '', /no file today/)
  await w.db.query('drop trigger broken on job_files')
  const { database, jobQueue } = w.api.services
  const sent = await Promise.all([0, 1, 2, 3, 4].map(() => resendDeadLetter(database, jobQueue, jobs, data.job_id)))
  t.is(sent.filter((isSent) => isSent).length, 1, 'five who send it again at once send it once')
  t.is(await hurry(w, data.job_id), 'done')
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}/result`)).status, 200)
  t.deepEqual(await listDeadLetters(w.api.services.database), [])
})

test('failures: an operation whose job is gone is settled, so that nobody waits for it for ever', async (t) => {
  const w = await shared()
  const { database, jobQueue } = w.api.services
  const { rows } = await w.db.query(
    `insert into operations (id, workspace_id, kind, job, request_id, created_at)
     values (gen_random_uuid(), $1, 'lost', 'records.export', 'test', now() - interval '20 seconds') returning id`,
    [w.org.id],
  )
  const waiting = w.api.services.waiter.wait(rows[0].id, 60_000)
  await database.transaction((tx) => failAbandonedOperations(tx, jobQueue))
  t.like(await waiting, { status: 'failed', error: { code: 'INTERNAL' } })
})

test('failures: the house-keeping of the queue finds attempts whose worker died', async (t) => {
  const w = await shared()
  const { data } = await w.org.owner.get(`${locations(w)}/export`, { prefer: 'respond-async' })
  await w.drain()
  // As a killed worker leaves it: taken, not ended, and silent for longer than the heartbeat.
  await w.db.query(`update operations set status = 'running', finished_at = null where id = $1`, [data.job_id])
  await w.db.query(
    `update pgboss.job set state = 'active', completed_on = null, output = null, started_on = now() - interval '1 minute',
       heartbeat_on = now() - interval '1 minute' where id = $1`,
    [data.job_id],
  )
  await w.db.query('update pgboss.queue set monitor_on = null')
  await w.worker.jobQueue.boss.supervise()
  t.is(await hurry(w, data.job_id), 'done')
})
