import type { Scope } from '#shared/core/scope/scope.ts'
import { requireSpace } from '#shared/features/drive/access.ts'
import { checkKey } from '#shared/features/drive/objects/key.ts'
import { storedKeyOf } from '#shared/features/drive/objects/place.ts'
import type { SpaceShare, SpaceShareInput } from '#shared/features/drive/schemas.ts'
import { countShares, deleteShare, findShareGrantee, findShares, insertShare, updateShare } from '#shared/features/drive/shares/store.ts'
import { lockSpace, type SpaceRow } from '#shared/features/drive/spaces/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Maximum number of shares of one space. */
const maxShares = 1_000

/** The shares of a space, ordered by prefix. Throws as `requireSpace` does for drive:manage. */
export async function listSpaceShares(scope: Scope, spaceId: string): Promise<SpaceShare[]> {
  const space = await requireSpace(scope, spaceId, null, 'manage')
  return scope.db.query(findShares({ workspaceId: scope.workspace.id, spaceId: space.id }))
}

/**
 * Shares a folder, a file or all of a space with one member or with every member. An existing share with the same grantee gets the new
 * mode, and `isNew` is false. Throws as `requireSpace` does, and VALIDATION_ERROR for a bad prefix, an input that does not name exactly one
 * grantee, the owner as grantee, more than 1,000 shares, and the shared space.
 */
export async function addSpaceShare(scope: Scope, spaceId: string, input: SpaceShareInput): Promise<{ share: SpaceShare; isNew: boolean }> {
  const space = await requireSpace(scope, spaceId, null, 'manage')
  if (space.type === 'org') throw problem('VALIDATION_ERROR', 'the shared space has no shares')
  if (input.prefix !== '') checkKey(input.prefix, 'prefix')
  const prefix = await storedKeyOf(scope, space.id, input.prefix, 'prefix')
  const granteeId = await granteeOf(scope, space, input)
  const { db, workspace, now } = scope
  const place = { workspaceId: workspace.id, spaceId: space.id }
  const requested = { ...place, prefix, granteeId, mode: input.mode }
  return db.transaction(async (tx) => {
    await tx.query(lockSpace({ workspaceId: workspace.id, id: space.id }))
    const [changed] = await tx.query(updateShare(requested))
    if (changed) return { share: changed, isNew: false }
    const [counted] = await tx.query(countShares(place))
    if ((counted?.count ?? 0) >= maxShares) throw problem('VALIDATION_ERROR', `a space must have at most ${maxShares} shares`)
    const [share] = await tx.query(insertShare({ ...requested, id: newId(), createdAt: now() }))
    if (!share) throw problem('INTERNAL')
    return { share, isNew: true }
  })
}

/** Deletes a share. Throws as `requireSpace` does, and NOT_FOUND. */
export async function removeSpaceShare(scope: Scope, spaceId: string, id: string): Promise<void> {
  const space = await requireSpace(scope, spaceId, null, 'manage')
  const deleted = isUuid(id) ? await scope.db.query(deleteShare({ workspaceId: scope.workspace.id, spaceId: space.id, id })) : []
  if (deleted.length === 0) throw problem('NOT_FOUND')
}

/** The id of the member to share with, or null for all members. */
async function granteeOf({ db, workspace }: Scope, space: SpaceRow, { email, user_id, org_wide }: SpaceShareInput): Promise<string | null> {
  if ([email !== undefined, user_id !== undefined, org_wide === true].filter(Boolean).length !== 1) {
    throw problem('VALIDATION_ERROR', 'exactly one of email, user_id and org_wide must name the grantee')
  }
  if (org_wide) return null
  const userId = user_id !== undefined && isUuid(user_id) ? user_id : null
  const [member] = await db.query(findShareGrantee({ workspaceId: workspace.id, email, userId }))
  if (!member) throw problem('VALIDATION_ERROR', `${email === undefined ? 'user_id' : 'email'} must name a member`)
  if (member.id === space.owner_id) throw problem('VALIDATION_ERROR', 'a drive is not shared with its own owner')
  return member.id
}
