import { requireGrantable, requireNotVisitorRole, requireRevocable } from '#shared/core/roles/grants.ts'
import { requirePrincipalSize } from '#shared/core/roles/limits.ts'
import { getRole, withLockedRole } from '#shared/core/roles/roles.ts'
import { giveRoles, listHolders, type NamedPrincipal, takeRole } from '#shared/core/roles/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Holders of a role, in the order in which they got it. */
export async function listRoleMembers(scope: Scope, roleId: string): Promise<NamedPrincipal[]> {
  const role = await getRole(scope, roleId)
  return scope.db.query(listHolders({ workspaceId: scope.workspace.id, roleId: role.id }))
}

/**
 * Assigns a role to a member or service account; no change if already assigned. NOT_FOUND when the workspace has no such principal,
 * VALIDATION_ERROR when it would hold more than it may (`roleLimits`).
 */
export async function addRoleMember(scope: Scope, roleId: string, principalId: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_members', roleId, async (locked, role) => {
    const { db, workspace } = locked
    if (!isUuid(principalId)) throw problem('NOT_FOUND', 'user_id names no member or service account of this workspace')
    requireNotVisitorRole(role, 'groupId')
    await requireGrantable(locked, role.policy)
    const added = await firstRow(db, giveRoles({ workspaceId: workspace.id, principalId, roleIds: [role.id] }))
    if (!added) throw problem('NOT_FOUND', 'user_id names no member or service account of this workspace')
    if (added.given > 0) await requirePrincipalSize(locked, principalId, 'user_id')
  })
}

/** Removes a role from a principal; NOT_FOUND when it does not hold the role. */
export async function removeRoleMember(scope: Scope, roleId: string, principalId: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_members', roleId, async (locked, role) => {
    const { db, workspace } = locked
    requireRow(isUuid(principalId) ? await db.query(takeRole({ workspaceId: workspace.id, roleId: role.id, principalId })) : [])
    requireRevocable(locked, role.policy, [])
  })
}
