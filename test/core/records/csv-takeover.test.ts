import test, { type ExecutionContext } from 'ava'
import { holdAt } from '#test/core/records/hold.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import type { World } from '#test/support/world.ts'

const locations = (w: World) => `${w.org.path}/records/locations`
const csv = { 'content-type': 'text/csv' }
const rows = `name\n${Array.from({ length: 500 }, (_, index) => `row ${index + 1}`).join('\n')}\n`

const shared = shareWorld(test)
/** A world whose jobs are done by the processes that the test starts. */
const withoutWorkers = shareWorld(test, {}, { pools: [] })

/** Starts an import of 500 rows and gives the path of its job. */
async function startImport(t: ExecutionContext, w: World): Promise<string> {
  const answer = await w.org.owner.post(`${locations(w)}/import`, rows, { ...csv, prefer: 'respond-async' })
  t.is(answer.status, 202)
  return `${w.org.path}/jobs/${answer.data.job_id}`
}

/** Waits until the job is done and holds the records against the rows of the file. */
async function requireOnce(t: ExecutionContext, w: World, job: string): Promise<void> {
  while ((await w.org.owner.get(job)).data.finished_at === null) await moment()
  await w.drain()
  t.like((await w.org.owner.get(job)).data, { status: 'done', progress: { done: 500, total: 500 }, result: { created: 500, failed: 0 } })
  const { text } = await w.org.owner.get(`${locations(w)}/export?sort=created_at&dir=asc`)
  t.deepEqual(text.match(/row \d+/g), rows.match(/row \d+/g))
  const created = `select from audit_entries where workspace_id = $1 and action = 'record.created'`
  t.is((await w.db.query(created, [w.org.id])).rowCount, 500)
  const counted = 'select sum(records)::integer as count from record_counts where workspace_id = $1'
  t.is((await w.db.query(counted, [w.org.id])).rows[0].count, 500)
}

test('csv takeover: an import shows how far it is while it runs', async (t) => {
  const w = await shared()
  const hold = await holdAt(w, 'row 250')
  const job = await startImport(t, w)
  await hold.reached()
  t.like((await w.org.owner.get(job)).data, { status: 'running', progress: { done: 200, total: 500 }, result: null })
  t.is((await w.org.owner.get(`${locations(w)}?offset=0`)).data.total, 200)
  await hold.release()
  await requireOnce(t, w, job)
})

test('csv takeover: after kill -9 in the middle another worker goes on and repeats nothing', async (t) => {
  const w = await withoutWorkers()
  const hold = await holdAt(w, 'row 250')
  const first = await startWorkerProcess(t, w, 'data')
  const job = await startImport(t, w)
  await hold.reached()
  await silenceQueue(w)
  await first.kill('SIGKILL')
  await startWorkerProcess(t, w, 'data')
  await hold.release()
  await requireOnce(t, w, job)
})

test('csv takeover: a worker that stood still while another went on with its import adds nothing when it wakes up', async (t) => {
  const w = await withoutWorkers()
  const [early, late] = [await holdAt(w, 'row 250'), await holdAt(w, 'row 350')]
  const first = await startWorkerProcess(t, w, 'data')
  const job = await startImport(t, w)
  await early.reached()
  await first.kill('SIGSTOP')
  await early.release()
  const [open] = await openTransactions(w, 1)
  await startWorkerProcess(t, w, 'data')
  await late.reached()
  t.like((await w.org.owner.get(job)).data, { status: 'running', progress: { done: 300, total: 500 } })
  await first.kill('SIGCONT')
  while ((await openTransactions(w)).includes(open)) await moment()
  await late.release()
  await requireOnce(t, w, job)
})

/** Keeps the queue itself, which hands such jobs on after ten seconds or more, out of what a test shows. */
async function silenceQueue(w: World): Promise<void> {
  await w.db.query(`update pgboss.job set heartbeat_seconds = 3600, expire_seconds = 3600 where state = 'active'`)
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Database connections that stand in a transaction and wait for their client, once there are so many. */
async function openTransactions(w: World, atLeast = 0): Promise<readonly unknown[]> {
  for (;;) {
    const { rows } = await w.db.query(
      `select pid from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and application_name like 'kontor worker%'`,
    )
    if (rows.length >= atLeast) return rows.map(({ pid }) => pid)
    await moment()
  }
}
