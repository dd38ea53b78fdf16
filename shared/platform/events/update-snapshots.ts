import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { findSnapshotTypes } from '#shared/platform/events/store.ts'

interface SnapshotScope {
  readonly db: Executor
  readonly cache: Cache
  readonly workspace: { readonly id: string }
}

/**
 * Whether any listener wants the whole record with each update of a type's records. Cached until a listener of the workspace changes, so
 * updates without such listeners cost nothing. Creations and deletions need no snapshot: their audit entry holds the whole record.
 */
export async function wantsSnapshots({ db, cache, workspace }: SnapshotScope, typeKey: string): Promise<boolean> {
  const types = await cache.remember(db, workspace.id, 'snapshots of updates', async () => {
    const rows = await db.query<{ objectType: string }>(findSnapshotTypes(workspace.id))
    return new Set(rows.map(({ objectType }) => objectType))
  })
  return types.has(typeKey)
}
