import type { Cache } from '#shared/db/cache.ts'
import type { Executor } from '#shared/db/database.ts'
import { findSnapshotTypes } from '#shared/events/statements.ts'

interface Reader {
  readonly db: Executor
  readonly cache: Cache
  readonly workspace: { readonly id: string }
}

/**
 * Whether anybody listens to updates of a type's records and wants the whole record with each. It is remembered until a listener of the
 * workspace changes, so that an update that nobody wants it of costs nothing; of creations and deletions the audit entry holds the whole.
 */
export async function wantsSnapshots({ db, cache, workspace }: Reader, typeKey: string): Promise<boolean> {
  const types = await cache.remember(db, workspace.id, 'snapshots of updates', async () => {
    const rows = await db.query<{ objectType: string }>(findSnapshotTypes(workspace.id))
    return new Set(rows.map(({ objectType }) => objectType))
  })
  return types.has(typeKey)
}
