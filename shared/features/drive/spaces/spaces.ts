import { requirePermission } from '#shared/core/scope/access.ts'
import { withinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { lockWorkspace } from '#shared/core/scope/store.ts'
import {
  accessByRoleOrOwnership,
  accessByShares,
  insertMainDrive,
  insertSharedSpace,
  requireSpace,
  sharedSpaceKey,
} from '#shared/features/drive/access.ts'
import type { SharedItem, Space, SpaceInput } from '#shared/features/drive/schemas.ts'
import { findSharedWith } from '#shared/features/drive/shares/store.ts'
import {
  countCustomSpaces,
  deleteEmptyFolders,
  deleteSpace,
  findSpaces,
  insertSpace,
  type SpaceWithTotals,
} from '#shared/features/drive/spaces/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * The caller's drives, then the team's spaces in which the caller's roles allow at least one action. Creates missing default spaces before
 * that.
 */
export async function listSpaces(scope: Scope): Promise<Space[]> {
  const visible = (await readSpaces(scope)).filter((space) => Object.values(accessByRoleOrOwnership(scope, space)).some(Boolean))
  return visible.map(({ id, key, name, type, object_count, total_bytes, created_at }) => ({
    id,
    key,
    name,
    type,
    object_count,
    total_bytes,
    created_at,
  }))
}

/** All spaces of the team and the caller's drives, with the default ones (docs/contract/drive.md#default-spaces). */
async function readSpaces(scope: Scope): Promise<SpaceWithTotals[]> {
  const { db, workspace } = scope
  const { personId } = scope.actor
  const spaces = await db.query(findSpaces({ workspaceId: workspace.id, personId }))
  const isComplete = spaces.some(({ type }) => type === 'org') && (personId === null || spaces.some(({ is_main }) => is_main))
  if (isComplete) return spaces
  await insertSharedSpace(scope)
  await insertMainDrive(scope)
  return db.query(findSpaces({ workspaceId: workspace.id, personId }))
}

/**
 * Folders and files that others have shared with the caller, except those to which the caller's roles already give as much access, or deny
 * what the share allows.
 */
export async function listSharedWithCaller(scope: Scope): Promise<SharedItem[]> {
  const { db, workspace, actor } = scope
  if (actor.personId === null) return []
  const rows = await db.query(findSharedWith({ workspaceId: workspace.id, personId: actor.personId }))
  return rows.flatMap((row) => {
    const { bucket_id, prefix, edits, owner_name } = row
    const held = accessByRoleOrOwnership(scope, { ...row, owner_id: null })
    const shared = accessByShares(scope, row, [edits ? 'edit' : 'view'])
    const isAdded = (shared.read && !held.read) || (shared.write && !held.write)
    return isAdded ? [{ bucket_id, prefix, mode: shared.write ? 'edit' : 'view', owner_name }] : []
  })
}

/**
 * Creates another drive of the caller, or a space of the team. Throws VALIDATION_ERROR for a bad or reserved key, UNAUTHORIZED for a
 * personal drive when the caller is no person, FORBIDDEN, KEY_TAKEN, and LIMIT_EXCEEDED at the cap of the plan.
 */
export async function createSpace(scope: Scope, { key: requestedKey, name, type }: SpaceInput): Promise<Space> {
  const { db, workspace, actor, now } = scope
  const common = { workspaceId: workspace.id, isMain: false }
  if (type === 'personal') {
    if (actor.personId === null) throw problem('UNAUTHORIZED', 'Only a person may make a personal drive')
    if (name === undefined) throw problem('VALIDATION_ERROR', 'name is required')
    const id = newId()
    const personal = { ...common, id, key: `user-${id}`, name, type: 'user', ownerId: actor.personId, createdAt: now() } as const
    return inserted(await db.query(insertSpace(personal)))
  }
  const key = requestedKey ?? ''
  checkSpaceKey(key)
  requirePermission(scope, 'drive:manage', key)
  return withinPlan(scope, 'spaces', 1, { lock: (tx, id) => tx.query(lockWorkspace({ id })), count: countCustomSpaces }, async (inside) => {
    const custom = { ...common, id: newId(), key, name: name ?? key, type: 'custom', ownerId: null, createdAt: now() } as const
    return inserted(await inside.db.query(insertSpace(custom)))
  })
}

function checkSpaceKey(key: string): void {
  if (!/^[a-z0-9][a-z0-9-]{1,62}$/.test(key)) {
    throw problem('VALIDATION_ERROR', 'key must be 2 to 63 lowercase letters, digits and hyphens, and start with a letter or digit')
  }
  if (key === sharedSpaceKey || key.startsWith('user-'))
    throw problem('VALIDATION_ERROR', 'key must not be org or start with user-, which are reserved')
}

/**
 * Deletes an empty space. Throws as `requireSpace` does, FORBIDDEN for the shared space and main drives, and VALIDATION_ERROR while it
 * holds files.
 */
export async function removeSpace(scope: Scope, id: string): Promise<void> {
  const space = await requireSpace(scope, id, null, 'manage')
  if (space.type === 'org' || space.is_main) throw problem('FORBIDDEN', 'The shared space and main drives cannot be deleted')
  await scope.db.transaction(async (tx) => {
    await tx.query(deleteEmptyFolders({ workspaceId: scope.workspace.id, spaceId: space.id }))
    const gone = await tx.query(deleteSpace({ workspaceId: scope.workspace.id, id: space.id }))
    if (gone.length === 0) throw problem('NOT_FOUND')
  })
}

function inserted([space]: readonly Space[]): Space {
  if (!space) throw problem('INTERNAL')
  return space
}
