import type { Scope } from '#shared/core/scope/scope.ts'
import { ownAccess } from '#shared/features/drive/access.ts'
import { type ObjectRow, viewOf } from '#shared/features/drive/objects/object.ts'
import { findRecent, findTypes } from '#shared/features/drive/objects/store.ts'
import type { RecentObject, TypeTotal } from '#shared/features/drive/schemas.ts'
import { listSpaces } from '#shared/features/drive/spaces/spaces.ts'

/** The newest files and the totals per content type, in the caller's own drives and in the team's spaces that it may read. */
export async function readOverview(scope: Scope, limit: number): Promise<{ recent: RecentObject[]; types: TypeTotal[] }> {
  const { db, workspace } = scope
  const owner = { owner_id: scope.actor.personId }
  const spaces = (await listSpaces(scope)).filter((space) => ownAccess(scope, { ...space, ...owner }).read).map(({ id }) => id)
  const recent = await db.query<ObjectRow & { bucket_id: string; bucket_key: string }>(findRecent(workspace.id, spaces, limit))
  const types = await db.query<TypeTotal>(findTypes(workspace.id, spaces))
  return { recent: recent.map((row) => ({ ...viewOf(row), bucket_id: row.bucket_id, bucket_key: row.bucket_key })), types }
}
