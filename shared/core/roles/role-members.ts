import { requireGrantable, requireNotVisitorRole, requireRevocable } from '#shared/core/roles/grants.ts'
import { getRole, withLockedRole } from '#shared/core/roles/roles.ts'
import { giveRoles, listHolders, type NamedPrincipal, takeRole } from '#shared/core/roles/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Who holds a role, in the order in which they got it. */
export async function listRoleMembers(scope: Scope, roleId: string): Promise<NamedPrincipal[]> {
  const role = await getRole(scope, roleId)
  return listHolders(scope.db, scope.workspace.id, role.id)
}

/** Gives a role to a member or service account, which may hold it already. NOT_FOUND when the workspace has no such principal. */
export async function addRoleMember(scope: Scope, roleId: string, principalId: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_members', roleId, async (inside, role) => {
    const { db, workspace } = inside
    if (!isUuid(principalId)) throw problem('NOT_FOUND', 'user_id names no member or service account of this workspace')
    requireNotVisitorRole(role, 'groupId')
    requireGrantable(inside, role.policy)
    const isGiven = await giveRoles(db, workspace.id, principalId, [role.id])
    if (!isGiven) throw problem('NOT_FOUND', 'user_id names no member or service account of this workspace')
  })
}

/** Takes a role from whoever holds it; NOT_FOUND when it does not. */
export async function removeRoleMember(scope: Scope, roleId: string, principalId: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_members', roleId, async (inside, role) => {
    const { db, workspace } = inside
    const isTaken = isUuid(principalId) && (await takeRole(db, workspace.id, role.id, principalId))
    if (!isTaken) throw problem('NOT_FOUND')
    requireRevocable(inside, role.policy, [])
  })
}
