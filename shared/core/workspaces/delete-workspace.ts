import { recordAction } from '#shared/core/operators/log.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import {
  deleteRows,
  dropWorkspaceSchema,
  isBeingDeleted,
  listTablesOfWorkspaces,
  markDeleting,
  removeWorkspace,
} from '#shared/core/workspaces/deletion-store.ts'
import { deleteWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { deleteJobsOfWorkspace } from '#shared/platform/jobs/pgboss/workspace-jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The most rows that one transaction deletes, besides those that refer to them. */
const batch = 1_000

/** Suspends a workspace for good, enqueues its deletion and logs it, in one transaction. Throws NOT_FOUND when there is none. */
export async function requestDeletion(scope: PlatformScope, workspaceId: string): Promise<void> {
  const { db, jobQueue, cause } = scope
  await db.transaction(async (tx) => {
    const workspace = await firstRow(tx, markDeleting({ id: workspaceId }))
    if (!workspace) throw problem('NOT_FOUND', `There is no workspace ${workspaceId}`)
    await jobQueue.enqueue(tx, deleteWorkspaceJob, { workspaceId: null, cause }, { workspaceId })
    await recordAction(tx, operatorOf(scope), 'workspaces.delete', { workspace: workspaceId, name: workspace.name })
  })
}

/**
 * Deletes everything of a workspace whose deletion was requested: its waiting jobs, its records, the rows of every feature in batches of
 * their own transactions, the bytes of its files, and last its own row. People keep their accounts. Another attempt continues where this one
 * ended.
 */
export async function deleteWorkspace({ db, blobs }: PlatformScope, workspaceId: string, signal: AbortSignal): Promise<void> {
  if (!(await isBeingDeleted(db, workspaceId))) return
  await deleteJobsOfWorkspace(db, workspaceId)
  await dropWorkspaceSchema(db, workspaceId)
  await deleteRowsOfFeatures({ db }, workspaceId, signal)
  await blobs.removeAll(workspaceId, signal)
  await db.query(removeWorkspace({ id: workspaceId }))
}

/** A table whose rows others refer to is tried again when those have gone. */
async function deleteRowsOfFeatures({ db }: Pick<PlatformScope, 'db'>, workspaceId: string, signal: AbortSignal): Promise<void> {
  const tables = await listTablesOfWorkspaces(db)
  for (;;) {
    let deleted = 0
    let refusal: unknown
    for (const table of tables) {
      try {
        for (let count = batch; count === batch; deleted += count) {
          signal.throwIfAborted()
          count = await deleteRows(db, table, workspaceId, batch)
        }
      } catch (error) {
        if (signal.aborted) throw error
        refusal = error
      }
    }
    if (refusal === undefined && deleted === 0) return
    if (refusal !== undefined && deleted === 0) throw refusal
  }
}
