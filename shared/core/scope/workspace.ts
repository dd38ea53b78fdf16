import { findWorkspaceRow, lockWorkspaceRow, type Workspace } from '#shared/core/scope/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Settings of one workspace, or undefined. */
export async function findWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query(findWorkspaceRow({ id })))[0]
}

/** Locks the workspace row until the transaction ends and returns its current settings; undefined when it does not exist. */
export async function lockWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query(lockWorkspaceRow({ id })))[0]
}
