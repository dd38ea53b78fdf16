import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, type RowOf, text } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

const columns = { kind: text.notNull, is_paused: boolean.notNull }

const selectPausedByKind = statement(
  'jobs.selectPausedByKind',
  'select name as kind, name = any(paused_kinds()) as is_paused from pgboss.queue where name <> $deadLetters',
  { params: { deadLetters: text }, columns },
)
/** Tells of every kind with a queue whether it is paused. */
export const findPausedByKind = (db: Executor): Promise<RowOf<typeof columns>[]> =>
  db.query(selectPausedByKind({ deadLetters: deadLetterQueue }))

// pg-boss deletes a job that has waited for the 14 days of its queue (`keep_until`). Each job is written once in a week. Unprepared: the table
// may be empty or full.
const setKeptLonger = statement(
  'jobs.setKeptLonger',
  `update pgboss.job as job set keep_until = now() + queue.retention_seconds * interval '1s'
   from pgboss.queue as queue
   where queue.name = job.name and job.name = any(paused_kinds()) and job.state < 'active'
     and job.keep_until < now() + queue.retention_seconds * interval '0.5s'`,
  { params: {} },
)
/** Lets waiting jobs of paused kinds be kept for as long as new ones, when half of their time has passed. */
export async function keepPausedJobs(db: Executor): Promise<void> {
  await db.query(asUnprepared(setKeptLonger()))
}
