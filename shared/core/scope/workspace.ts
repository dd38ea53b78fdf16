import { type EnteredWorkspace, findShareMembers, findWorkspace } from '#shared/core/scope/store.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'

/** Settings of one workspace, cached until it changes. */
export const loadWorkspace = (cache: Cache, db: Executor, id: string): Promise<EnteredWorkspace | undefined> =>
  cache.remember(db, id, 'workspace', () => firstRow(db, findWorkspace({ id })))

/** Bounds the list of workspaces that a fetch of jobs leaves out. An owner with more is a host, whose workspaces should count one by one. */
const maxShareMembers = 1_000

/** Ids of the workspaces of a share, at most 1,000. Cached until a workspace joins or leaves the share. */
export const loadShareMembers = (cache: Cache, db: Executor, shareId: string): Promise<readonly string[]> =>
  cache.remember(db, shareId, 'share', async () =>
    (await db.query(findShareMembers({ shareId, most: maxShareMembers }))).map(({ id }) => id),
  )
