import { isDeepStrictEqual } from 'node:util'
import type { Permission } from '#shared/core/policy/permissions.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { requireGrantable, requireRevocable } from '#shared/core/roles/grants.ts'
import { requireHoldersWithin, requirePolicySize } from '#shared/core/roles/limits.ts'
import type { RoleInput } from '#shared/core/roles/schemas.ts'
import {
  deleteRoleRow,
  findRole,
  findRoleHolder,
  findRolePage,
  insertRole,
  listRoleRows,
  lockRole,
  type Role,
  takeRoleFromAll,
  updateRole,
} from '#shared/core/roles/store.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { lockWorkspace } from '#shared/core/scope/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The workspace's roles, oldest first. */
export const listRoles = ({ db, workspace }: Scope): Promise<Role[]> => db.query(listRoleRows({ workspaceId: workspace.id }))

/** A page of the workspace's roles, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listRolePage = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<Role>> =>
  listByCreation<Role, Role>(scope, query, {
    find: (afterTime, afterId, limit) => findRolePage({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    show: (rows) => rows,
  })

/** One role; NOT_FOUND when the workspace has no role with this id. */
export async function getRole({ db, workspace }: Scope, id: string): Promise<Role> {
  return requireRow(isUuid(id) ? await db.query(findRole({ workspaceId: workspace.id, id })) : [])
}

/** Creates a role that grants no more than the caller holds. Only the owner creates a visitors' role. */
export async function createRole(scope: Scope, input: RoleInput): Promise<Role> {
  const parsed = parseInput(input)
  requirePolicySize(parsed.policy)
  if (parsed.is_anonymous) requireOwner(scope)
  await requireGrantable(scope, parsed.policy)
  const { workspace } = scope
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    if (parsed.is_anonymous) await tx.query(lockWorkspace({ id: workspace.id }))
    const role = await insertRole(tx, workspace.id, newId(), parsed)
    if (parsed.is_anonymous) await requireHoldersWithin(inside, undefined, role)
    await announceChange(inside, role.id, 'created')
    return role
  })
}

/**
 * Replaces a role. A role that becomes a visitors' role is removed from all its holders. Throws VALIDATION_ERROR when its holders would have
 * more than they may (`roleLimits`).
 */
export async function replaceRole(scope: Scope, id: string, input: RoleInput): Promise<Role> {
  const parsed = parseInput(input)
  return withLockedRole(scope, 'iam:manage_groups', id, async (locked, role) => {
    const { db, workspace } = locked
    requirePolicySize(parsed.policy, role.policy)
    if (parsed.is_anonymous && !role.is_anonymous) requireOwner(locked)
    await requireGrantable(locked, parsed.policy)
    await requireNoGain(locked, role, parsed.policy)
    if (parsed.is_anonymous) await db.query(takeRoleFromAll({ workspaceId: workspace.id, roleId: role.id }))
    const changed = await updateRole(db, workspace.id, role.id, parsed)
    await requireHoldersWithin(locked, role, changed)
    if (!isDeepStrictEqual(contentOf(role), contentOf(changed))) await announceChange(locked, role.id, 'updated')
    return changed
  })
}

/** Deletes a role and removes it from all its holders. */
export async function deleteRole(scope: Scope, id: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_groups', id, async (locked, role) => {
    await requireNoGain(locked, role, [])
    await locked.db.query(deleteRoleRow({ workspaceId: locked.workspace.id, id: role.id }))
    await announceChange(locked, role.id, 'deleted')
  })
}

/** What a replacement can change. */
const contentOf = ({ name, description, policy, is_anonymous }: Role) => ({ name, description, policy, is_anonymous })

const announceChange = (scope: Scope, id: string, change: 'created' | 'updated' | 'deleted'): Promise<void> =>
  announceHappening(scope, { type: 'roles.changed', subject: { id }, data: { change } })

/** Runs work inside `withAccessLock` with the role's row locked too; NOT_FOUND when the workspace has no role with this id. */
export async function withLockedRole<T>(
  scope: Scope,
  permission: Permission,
  id: string,
  work: (scope: Scope, role: Role) => Promise<T>,
): Promise<T> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  return withAccessLock(scope, permission, async (locked) => {
    return work(locked, requireRow(await locked.db.query(lockRole({ workspaceId: locked.workspace.id, id }))))
  })
}

const parseInput = ({ name, description = '', policy = [], is_anonymous = false }: RoleInput) => ({
  name: name.trim(),
  description,
  policy: parsePolicy(policy),
  is_anonymous,
})

function requireOwner({ actor }: Scope): void {
  if (!actor.owner) throw problem('FORBIDDEN', 'Only the owner of the workspace may make a role for visitors')
}

/**
 * Throws FORBIDDEN when a replaced or deleted role would give its holders rights that the caller does not hold. A role without holders is
 * not checked, except for a visitors' role.
 */
async function requireNoGain(scope: Scope, role: Role, after: readonly PolicyRule[]): Promise<void> {
  if (role.is_anonymous || (await firstRow(scope.db, findRoleHolder({ workspaceId: scope.workspace.id, roleId: role.id }))))
    requireRevocable(scope, role.policy, after)
}
