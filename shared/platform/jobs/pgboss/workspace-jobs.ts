import type { Executor } from '#shared/platform/db/database.ts'
import { text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const deleteJobsByWorkspace = statement(
  'jobs.deleteJobsByWorkspace',
  `delete from pgboss.job where data ->> 'workspaceId' = $workspaceId and state <> 'active'`,
  { params: { workspaceId: text } },
)
/** Deletes the jobs of a workspace that do not run, dead letters included. Reads every job. */
export async function deleteJobsOfWorkspace(db: Executor, workspaceId: string): Promise<void> {
  await db.query(deleteJobsByWorkspace({ workspaceId }))
}
