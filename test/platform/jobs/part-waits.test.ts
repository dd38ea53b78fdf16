import test from 'ava'
import { exportRecordsJob } from '#shared/core/records/jobs.ts'
import { jobs } from '#shared/features.ts'
import { findJob } from '#shared/platform/jobs/operator/find-jobs.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3, type TestS3 } from '#test/platform/blobs/s3-server.ts'
import { ageWait, postponeRetries, readWaitingJobs } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { hurry } from '#test/support/hurry.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { retryJobsNow } from '#test/support/rows.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const s3Server = shareInThread(test, async () => {
  const ends: (() => unknown)[] = []
  const value = await startS3({ teardown: (end) => ends.push(end) })
  return { value, close: () => Promise.all(ends.map((end) => end())) }
})
const shared = shareWorld(test, async () => ({ ...(await s3Server()).environment, LOG_LEVEL: 'silent' }), { key: 'jobs on S3' })

const waiting = (w: World) => readWaitingJobs(w.db, exportRecordsJob.name)
const statusOf = async (w: World, id: string): Promise<string> => (await w.org.owner.get(`${w.org.path}/jobs/${id}`)).data.status

/** Files exports while the store is away, and waits until all of them wait for it. */
async function fileExports(w: World, s3: TestS3, count: number): Promise<string[]> {
  s3.trouble.failures = 1
  const ids: string[] = []
  for (let n = 0; n < count; n++)
    ids.push((await w.org.owner.get(`${w.org.path}/records/locations/export`, { prefer: 'respond-async' })).data.job_id)
  const held = Math.min(count, exportRecordsJob.gate?.perWorkspace ?? count)
  await eventually(async () => (await waiting(w)).length === held)
  return ids
}

test('part waits: a job whose file store is away waits longer than its attempts last, and is done when it is back', async (t) => {
  const [w, s3] = [await shared(), await s3Server()]
  const [id = ''] = await fileExports(w, s3, 1)
  const more = exportRecordsJob.retry.limit + 2
  await eventually(async () => {
    await retryJobsNow(w.db, exportRecordsJob.name)
    w.worker.pools.pollAll()
    return (await waiting(w)).some(({ waits }) => waits > more)
  })
  const [job] = await eventually(async () => {
    const jobs = await waiting(w)
    return jobs.length > 0 && jobs
  })
  t.like(job, { id, part: 'file store', retryCount: 0 })
  await eventually(async () => (await statusOf(w, id)) === 'queued')
  s3.trouble.failures = 0
  t.is(await hurry(w, id), 'done')
  t.is((await findJob(w.api.services.database, jobs, id)).state, 'done')
})

test('part waits: a caller that waits for such a job is told to come back, and a call that needs the store itself is 503', async (t) => {
  const [w, s3] = [await shared(), await s3Server()]
  const { shared: spaceId } = await firstSpaces(w.org.owner, w.org)
  const space = spaceOf(w.org.owner, w.org, spaceId)
  t.is((await space.put('a.txt')).status, 201)
  s3.trouble.failures = 1
  const answer = await w.org.owner.get(`${w.org.path}/records/locations/export`)
  t.deepEqual([answer.status, answer.data.status], [202, 'queued'])
  for (const refused of [await space.put('b.txt'), await space.download('a.txt')])
    t.deepEqual([refused.status, refused.body.error?.code, refused.headers.get('retry-after')], [503, 'UNAVAILABLE', '2'])
  s3.trouble.failures = 0
  t.is(await hurry(w, answer.data.job_id), 'done')
})

test('part waits: one job of a queue probes, and its success lets the others follow', async (t) => {
  const [w, s3] = [await shared(), await s3Server()]
  const ids = await fileExports(w, s3, 2)
  s3.trouble.failures = 0
  await eventually(async () => {
    await postponeRetries(w.db, exportRecordsJob.name)
    return (await waiting(w)).every(({ seconds }) => seconds > 60_000)
  })
  await runMaintenanceTask(w, 'probes of parts')
  for (const id of ids) await eventually(async () => (await statusOf(w, id)) === 'done')
  t.deepEqual(await waiting(w), [])
})

test('part waits: after a day the failures of a part that is away are attempts', async (t) => {
  const [w, s3] = [await shared(), await s3Server()]
  const [id = ''] = await fileExports(w, s3, 1)
  await eventually(async () => {
    await ageWait(w.db, id)
    await retryJobsNow(w.db, exportRecordsJob.name)
    w.worker.pools.pollAll()
    return (await statusOf(w, id)) === 'failed'
  })
  const job = await w.org.owner.get(`${w.org.path}/jobs/${id}`)
  t.is(job.data.error.code, 'UNAVAILABLE')
  await w.drain()
  const { state, attempts } = await findJob(w.api.services.database, jobs, id)
  t.deepEqual([state, attempts.length > exportRecordsJob.retry.limit], ['failed', true])
  s3.trouble.failures = 0
})
