import { findExcessGrant, findLiftedLimits } from '#shared/core/policy/grants/excess-grants.ts'
import { fieldsTestedBy, findHiddenTest } from '#shared/core/policy/grants/hidden-tests.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { requireHoldable } from '#shared/core/roles/limits.ts'
import { lockRolesShared, type Role } from '#shared/core/roles/store.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { readTypesHavingFields } from '#shared/core/types/record-type.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Who gives rules, and where. */
interface Giver extends Pick<Scope, 'actor' | 'db'> {
  readonly workspace: { readonly id: string }
}

/**
 * Throws FORBIDDEN when the rules grant more than the caller holds (docs/contract/access.md#giving-rights) or test a field that the caller
 * does not read in every record (docs/contract/access.md#given-conditions). `where` prefixes the message. Call it wherever rules are given:
 * by a role, to a person, an account or an invitation, or by a key.
 */
export async function requireGrantable(scope: Scope, rules: readonly PolicyRule[], where = ''): Promise<void> {
  const refusal = await findRefusedGrant(scope, rules)
  if (refusal) throw problem('FORBIDDEN', where + refusal.message)
}

/** Same as `requireGrantable`, but returns the FORBIDDEN; undefined when the caller may give the rules. */
export async function findRefusedGrant({ actor, db, workspace }: Giver, rules: readonly PolicyRule[]): Promise<Problem | undefined> {
  const excess = findExcessGrant(actor.policy, rules)
  const tested = excess || actor.owner ? [] : fieldsTestedBy(rules)
  if (tested.length === 0) return excess
  const types = await readTypesHavingFields(db, workspace.id, tested)
  return findHiddenTest(actor.policy, rules, new Map(types.map(({ key, fields }) => [key, fields])))
}

/** Whether an actor may give a role, or an invitation with it, to somebody now. */
export const mayGive = async (giver: Giver, { policy }: Pick<Role, 'policy'>): Promise<boolean> =>
  permits(giver, 'iam:manage_members') && (await findRefusedGrant(giver, policy)) === undefined

/** Throws FORBIDDEN when replacing the rules `before` by `after` would give their holders rights that the caller does not hold. */
export function requireRevocable({ actor }: Scope, before: readonly PolicyRule[], after: readonly PolicyRule[]): void {
  if (findExcessGrant(actor.policy, findLiftedLimits(before, after))) {
    throw problem('FORBIDDEN', 'The role refuses or hides what you do not hold yourself, so you cannot take that from anybody')
  }
}

/**
 * Roles that the caller may assign, locked against changes until the transaction of `scope` ends. Throws VALIDATION_ERROR for an id that is
 * unknown or is a visitors' role and for roles that are more than one principal may hold, and FORBIDDEN for a role that grants more than the
 * caller holds; messages name the id as `<where>[<index>]`.
 */
export async function requireAssignable(scope: Scope, roleIds: readonly string[], where = 'role_ids'): Promise<Role[]> {
  const ids = roleIds.map((id) => id.toLowerCase())
  const roles = await scope.db.query(lockRolesShared({ workspaceId: scope.workspace.id, ids: ids.filter(isUuid) }))
  const byId = new Map(roles.map((role) => [role.id, role]))
  for (const [index, id] of ids.entries()) {
    const role = byId.get(id)
    if (!role) throw problem('VALIDATION_ERROR', `${where}[${index}] names no role of this workspace`)
    requireNotVisitorRole(role, `${where}[${index}]`)
    await requireGrantable(scope, role.policy, `${where}[${index}]: `)
  }
  requireHoldable(roles, where)
  return roles
}

/** Throws VALIDATION_ERROR for a visitors' role, which cannot be assigned (docs/contract/access.md#visitors-roles). */
export function requireNotVisitorRole(role: Role, where: string): void {
  if (role.is_anonymous) throw problem('VALIDATION_ERROR', `${where} names a role for visitors, which is given to nobody`)
}
