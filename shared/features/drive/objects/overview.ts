import type { Scope } from '#shared/core/scope/scope.ts'
import { accessByRoleOrOwnership } from '#shared/features/drive/access.ts'
import { objectViewOf } from '#shared/features/drive/objects/object.ts'
import { findRecentObjects, findTypeTotals } from '#shared/features/drive/objects/store.ts'
import type { RecentObject, TypeTotal } from '#shared/features/drive/schemas.ts'
import { listSpaces } from '#shared/features/drive/spaces/spaces.ts'

/** The newest files and the totals per content type, in the caller's own drives and in the team's spaces that it may read. */
export async function readOverview(scope: Scope, limit: number): Promise<{ recent: RecentObject[]; types: TypeTotal[] }> {
  const { db, workspace } = scope
  const owner = { owner_id: scope.actor.personId }
  const spaceIds = (await listSpaces(scope))
    .filter((space) => accessByRoleOrOwnership(scope, { ...space, ...owner }).read)
    .map(({ id }) => id)
  const recent = await db.query(findRecentObjects({ workspaceId: workspace.id, spaceIds, limit }))
  const types = await db.query(findTypeTotals({ workspaceId: workspace.id, spaceIds }))
  return { recent: recent.map((row) => ({ ...objectViewOf(row), bucket_id: row.bucket_id, bucket_key: row.bucket_key })), types }
}
