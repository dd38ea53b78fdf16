import test from 'ava'
import type { Tx } from '#shared/platform/db/database.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { completeOperation, startOperation } from '#shared/platform/jobs/operations/operations.ts'
import { deletePause, insertPause } from '#shared/platform/jobs/pauses/store.ts'
import { findActiveJobs } from '#shared/platform/jobs/pgboss/active-jobs.ts'
import { world } from '#test/support/world.ts'

/** Waiting jobs, of which the planner has no statistics. */
const waiting = 5_000
/** Rows that a step may read: those of its own job and of the next few. */
const few = 100

const job = 'functions.invoke'

const begin = 'begin'
const commit = 'commit'
const admitJobs = 'select admit_jobs($1, $2)'
const activateJobs = { text: `update pgboss.job set state = 'active' returning id` }
const deleteAll = ['delete from pgboss.job', 'delete from gated_jobs', 'delete from operations']
const addWaitingJobs = `
  with made as (
    insert into operations (id, workspace_id, kind, job, request_id)
    select uuidv7(), $1, $2, $2, 'burst' from generate_series(1, ${waiting}) returning id
  )
  insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, envelope) select id, $1, 'functions', $2, 4, 0, '{}' from made
  returning id`
const vacuum = 'vacuum analyze operations, gated_jobs'
const countRowsRead = `
  select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_xact_user_tables
  where relname in ('operations', 'gated_jobs')`

const steps: readonly (readonly [name: string, step: (tx: Tx, workspaceId: string, id: string) => Promise<unknown>])[] = [
  ['letting jobs in', (tx, workspaceId) => tx.query({ text: admitJobs, values: [workspaceId, 'functions'] })],
  ['fetching them', (tx) => tx.query(activateJobs)],
  ['beginning one', (tx, _, id) => startOperation(tx, id, 'host:1')],
  ['looking after what is active', (tx) => findActiveJobs(tx, [job])],
  ['settling one', (tx, _, id) => completeOperation(tx, id, { status: 'done', result: null })],
]

test('bursts: no step of a job reads the waiting jobs, also with outdated statistics of their tables', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(async () => {
    for (const statement of deleteAll) await w.db.query(statement)
    await w.close()
  })
  const burst = await w.db.connect()
  await burst.query(begin)
  const { rows } = await burst.query(addWaitingJobs, [w.org.id, job])
  await w.db.query(vacuum)
  await burst.query(commit)
  burst.release()

  await w.api.services.database.transaction(async (tx) => {
    for (const [name, step] of steps) {
      const before = await rowsRead(tx)
      const done = await step(tx, w.org.id, rows[0].id)
      t.truthy(Array.isArray(done) ? done.length : done, `${name} has a result`)
      const read = (await rowsRead(tx)) - before
      t.true(read < few, `${name} reads ${read} rows`)
    }
    const pause = { target: 'kind', name: job, channel: signalChannels.paused }
    await insertPause(tx, { ...pause, kinds: [job] })
    const before = await rowsRead(tx)
    await tx.query({ text: admitJobs, values: [w.org.id, 'functions'] })
    const read = (await rowsRead(tx)) - before
    t.true(read < few, `leaving out a paused kind reads ${read} rows`)
    await deletePause(tx, pause)
  })
})

/** Rows of the tables of waiting jobs that this session has read. */
async function rowsRead(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ read: number }>({ text: countRowsRead })
  return row?.read ?? 0
}
