import test, { type ExecutionContext } from 'ava'
import { holdAt } from '#test/core/records/hold.ts'
import { typeOf } from '#test/core/records/importing.ts'
import { countAuditEntries, countStoredRecords, listIdleTransactions } from '#test/core/records/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { countOpenJobs, prolongActiveJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const locations = (w: World) => `${w.org.path}/records/locations`
const csv = { 'content-type': 'text/csv' }
const rows = `name\n${Array.from({ length: 500 }, (_, index) => `row ${index + 1}`).join('\n')}\n`

const shared = shareWorld(test)
/** A world whose jobs run in the processes that the test starts. */
const withoutWorkers = shareWorld(test, {}, { pools: [] })

/** Starts an import of 500 rows and returns the path of its job. */
async function startImport(t: ExecutionContext, w: World): Promise<string> {
  const answer = await w.org.owner.post(`${locations(w)}/import`, rows, { ...csv, prefer: 'respond-async' })
  t.is(answer.status, 202)
  return `${w.org.path}/jobs/${answer.data.job_id}`
}

/** Waits until the job is done and compares the records with the rows of the file. */
async function requireOnce(t: ExecutionContext, w: World, job: string): Promise<void> {
  await eventually(async () => (await w.org.owner.get(job)).data.finished_at !== null)
  // A worker that lost its import may have set the job to be retried, which must repeat nothing either.
  await eventually(async () => (await countOpenJobs(w.db)) === 0)
  t.like((await w.org.owner.get(job)).data, { status: 'done', progress: { done: 500, total: 500 }, result: { created: 500, failed: 0 } })
  const { text } = await w.org.owner.get(`${locations(w)}/export?sort=created_at&dir=asc`)
  t.deepEqual(text.match(/row \d+/g), rows.match(/row \d+/g))
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.created' }), 500)
  t.is(await countStoredRecords(w.db, w.org.id), 500)
}

test('csv takeover: a running import shows its progress', async (t) => {
  const w = await shared()
  const hold = await holdAt(w, 'row 250')
  const job = await startImport(t, w)
  await hold.reached()
  t.like((await w.org.owner.get(job)).data, { status: 'running', progress: { done: 200, total: 500 }, result: null })
  t.is((await w.org.owner.get(`${locations(w)}?offset=0`)).data.total, 200)
  await hold.release()
  await requireOnce(t, w, job)
})

test('csv takeover: after kill -9 another worker continues an import and repeats nothing', async (t) => {
  const w = await withoutWorkers()
  const hold = await holdAt(w, 'row 250')
  const first = await startWorkerProcess(t, w, 'data')
  const job = await startImport(t, w)
  await hold.reached()
  // Otherwise the queue itself retries such jobs after ten seconds.
  await prolongActiveJobs(w.db, w.org.id)
  await first.kill('SIGKILL')
  await startWorkerProcess(t, w, 'data')
  await hold.release()
  await requireOnce(t, w, job)
})

test('csv takeover: a worker that was stopped while another continued its import adds nothing when it resumes', async (t) => {
  const w = await withoutWorkers()
  const [early, late] = [await holdAt(w, 'row 250'), await holdAt(w, 'row 350')]
  const first = await startWorkerProcess(t, w, 'data')
  const job = await startImport(t, w)
  await early.reached()
  await first.kill('SIGSTOP')
  await early.release()
  const open = await eventually(async () => (await listIdleTransactions(w.db))[0])
  await startWorkerProcess(t, w, 'data')
  await late.reached()
  t.like((await w.org.owner.get(job)).data, { status: 'running', progress: { done: 300, total: 500 } })
  await first.kill('SIGCONT')
  await eventually(async () => !(await listIdleTransactions(w.db)).includes(open))
  await late.release()
  await requireOnce(t, w, job)
})

/** A type whose even numbers have a record, a file that names all numbers, and the path of the job that imports it. */
async function startUpsert(t: ExecutionContext, w: World, dryRun: boolean): Promise<string> {
  const path = `${w.org.path}/records/codes/import?upsert_by=code&dry_run=${dryRun}`
  const file = Array.from({ length: 500 }, (_, index) => `c${index},row ${index}`).join('\n')
  const answer = await w.org.owner.post(path, `code,note\n${file}\n`, { ...csv, prefer: 'respond-async' })
  t.is(answer.status, 202)
  return `${w.org.path}/jobs/${answer.data.job_id}`
}

async function createEvenCodes(w: World): Promise<void> {
  await typeOf(w, 'codes', { code: { unique: true }, note: {} })
  const operations = Array.from({ length: 250 }, (_, index) => ({ op: 'create', values: { code: `c${index * 2}` } }))
  await w.org.owner.post(`${w.org.path}/records/codes/batch`, { operations })
}

for (const dryRun of [false, true]) {
  const title = dryRun ? 'judges a dry run anew, which writes nothing' : 'continues an import that changes records, each once'
  test(`csv takeover: after kill -9 another worker ${title}`, async (t) => {
    const w = await withoutWorkers()
    const first = await startWorkerProcess(t, w, 'data')
    await createEvenCodes(w)
    const hold = await holdAt(w, 'row 251', { type: 'codes', field: 'note' })
    const job = await startUpsert(t, w, dryRun)
    await hold.reached()
    await prolongActiveJobs(w.db, w.org.id)
    await first.kill('SIGKILL')
    await startWorkerProcess(t, w, 'data')
    await hold.release()
    await eventually(async () => (await w.org.owner.get(job)).data.finished_at !== null)
    await eventually(async () => (await countOpenJobs(w.db)) === 0)
    const result = { created: 250, updated: 250, unchanged: 0, failed: 0, errors: [] }
    t.like((await w.org.owner.get(job)).data, { status: 'done', progress: { done: 500, total: 500 }, result })
    const [created, updated] = dryRun ? [250, 0] : [500, 250]
    t.is(await countAuditEntries(w.db, w.org.id, { objectType: 'codes', action: 'record.created' }), created)
    t.is(await countAuditEntries(w.db, w.org.id, { objectType: 'codes', action: 'record.updated' }), updated)
    t.is(await countStoredRecords(w.db, w.org.id), created)
  })
}
