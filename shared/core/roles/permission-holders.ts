import { compilePolicy } from '#shared/core/policy/evaluate.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { findMembersWithRoles, findPolicies, type MemberWithRoles } from '#shared/core/roles/store.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

type HoldersScope = Pick<Scope, 'db'> & { readonly workspace: { readonly id: string } }

/** Ids of the members whose roles allow a permission on every item, and of the owner. Service accounts are excluded: they have no inbox. */
export async function findPermissionHolders({ db, workspace }: HoldersScope, permission: Permission): Promise<string[]> {
  const members = await db.query(findMembersWithRoles({ workspaceId: workspace.id }))
  const roles = await db.query(findPolicies({ workspaceId: workspace.id }))
  const policies = new Map(roles.map(({ id, policy }) => [id, policy]))
  return members.filter((member) => hasPermission(member, policies, permission)).map(({ user_id }) => user_id)
}

function hasPermission(
  { user_id, owner, role_ids }: MemberWithRoles,
  policies: ReadonlyMap<string, readonly PolicyRule[]>,
  permission: Permission,
): boolean {
  const rules = role_ids.flatMap((id) => (policies.get(id) ?? []).map((rule, index) => ({ ...rule, role_id: id, index })))
  const policy = compilePolicy(rules, { id: user_id, type: 'user', owner })
  return permits({ actor: { policy } }, permission)
}
