import { findExcessGrant, findLiftedLimits } from '#shared/core/policy/grants/excess-grants.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { lockRolesShared, type Role } from '#shared/core/roles/store.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Throws FORBIDDEN when the rules grant more than the caller holds (decisions, People, keys, workspaces). `where` prefixes the message. */
export function requireGrantable({ actor }: Scope, rules: readonly PolicyRule[], where = ''): void {
  const excess = findExcessGrant(actor.policy, rules)
  if (excess) throw problem('FORBIDDEN', where + excess.message)
}

/** Whether an actor may give a role, or an invitation with it, to somebody now. */
export const mayGive = ({ actor }: Pick<Scope, 'actor'>, { policy }: Pick<Role, 'policy'>): boolean =>
  permits({ actor }, 'iam:manage_members') && findExcessGrant(actor.policy, policy) === undefined

/** Throws FORBIDDEN when replacing the rules `before` by `after` would give their holders rights that the caller does not hold. */
export function requireRevocable({ actor }: Scope, before: readonly PolicyRule[], after: readonly PolicyRule[]): void {
  if (findExcessGrant(actor.policy, findLiftedLimits(before, after))) {
    throw problem('FORBIDDEN', 'The role refuses or hides what you do not hold yourself, so you cannot take that from anybody')
  }
}

/**
 * Roles that the caller may assign, locked against changes until the transaction of `scope` ends. Throws VALIDATION_ERROR for an id that is
 * unknown or is a visitors' role, and FORBIDDEN for a role that grants more than the caller holds; messages name the id as
 * `<where>[<index>]`.
 */
export async function requireAssignable(scope: Scope, roleIds: readonly string[], where = 'role_ids'): Promise<Role[]> {
  const ids = roleIds.map((id) => id.toLowerCase())
  const roles = await lockRolesShared(scope.db, scope.workspace.id, ids.filter(isUuid))
  const byId = new Map(roles.map((role) => [role.id, role]))
  for (const [index, id] of ids.entries()) {
    const role = byId.get(id)
    if (!role) throw problem('VALIDATION_ERROR', `${where}[${index}] names no role of this workspace`)
    requireNotVisitorRole(role, `${where}[${index}]`)
    requireGrantable(scope, role.policy, `${where}[${index}]: `)
  }
  return roles
}

/** Throws VALIDATION_ERROR for a visitors' role, which cannot be assigned (document 1, Authentication, rule 10). */
export function requireNotVisitorRole(role: Role, where: string): void {
  if (role.is_anonymous) throw problem('VALIDATION_ERROR', `${where} names a role for visitors, which is given to nobody`)
}
