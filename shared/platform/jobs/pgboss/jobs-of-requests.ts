import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, integer, type RowOf, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  job: text.notNull,
  at: instant.notNull,
  isDeadLetter: boolean.notNull,
  state: text.notNull,
  attempt: integer.notNull,
  message: text,
}

// Request ids have no index: traces are rare, and every job would pay for one.
const selectJobsOfRequests = statement(
  'jobs.selectJobsOfRequests',
  `select coalesce(source_id, id) as id, coalesce(source_name, name) as job, created_on as at, source_id is not null as "isDeadLetter",
     state::text, coalesce(source_retry_count, retry_count) + 1 as attempt, output ->> 'message' as message
   from pgboss.job where data -> 'cause' ->> 'requestId' = any($requestIds::text[])`,
  { params: { requestIds: texts }, columns },
)
/** Finds the jobs that these requests caused, and their dead letters, as long as pg-boss keeps them. Reads every job. */
export const findJobsOfRequests = (db: Executor, requestIds: readonly string[]): Promise<RowOf<typeof columns>[]> =>
  db.query(selectJobsOfRequests({ requestIds }))
