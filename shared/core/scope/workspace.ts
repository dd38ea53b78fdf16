import { type EnteredWorkspace, findShareMembers, findWorkspaceRow, lockWorkspaceRow } from '#shared/core/scope/store.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Settings of one workspace, or undefined. */
export async function findWorkspace(db: Executor, id: string): Promise<EnteredWorkspace | undefined> {
  return (await db.query(findWorkspaceRow({ id })))[0]
}

/** Same as `findWorkspace`, cached until the workspace changes. */
export const loadWorkspace = (cache: Cache, db: Executor, id: string): Promise<EnteredWorkspace | undefined> =>
  cache.remember(db, id, 'workspace', () => findWorkspace(db, id))

/** Bounds the list of workspaces that a fetch of jobs leaves out. An owner with more is a host, whose workspaces should count one by one. */
const maxShareMembers = 1_000

/** Ids of the workspaces of a share, at most 1,000. Cached until a workspace joins or leaves the share. */
export const loadShareMembers = (cache: Cache, db: Executor, shareId: string): Promise<readonly string[]> =>
  cache.remember(db, shareId, 'share', async () =>
    (await db.query(findShareMembers({ shareId, most: maxShareMembers }))).map(({ id }) => id),
  )

/** Locks the workspace row until the transaction ends and returns its current settings; undefined when it does not exist. */
export async function lockWorkspace(db: Executor, id: string): Promise<EnteredWorkspace | undefined> {
  return (await db.query(lockWorkspaceRow({ id })))[0]
}
