import type { Permission } from '#shared/core/policy/permissions.ts'
import { type PolicyRule, parsePolicy } from '#shared/core/policy/policy-rules.ts'
import { requireGrantable, requireRevocable } from '#shared/core/roles/grants.ts'
import type { Role, RoleInput } from '#shared/core/roles/schemas.ts'
import {
  deleteRoleRow,
  findRole,
  findRolePage,
  insertRole,
  isRoleHeld,
  listRoleRows,
  lockRole,
  takeRoleFromAll,
  updateRole,
} from '#shared/core/roles/store.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The workspace's roles, oldest first. */
export const listRoles = ({ db, workspace }: Scope): Promise<Role[]> => listRoleRows(db, workspace.id)

/** The same as an answer. Throws VALIDATION_ERROR like `listByCreation`. */
export const listRolePage = ({ db, workspace }: Scope, query: LinkedQuery): Promise<LinkedPage<Role>> =>
  listByCreation<Role, Role>(db, query, {
    list: `roles ${workspace.id}`,
    find: (...page) => findRolePage(workspace.id, ...page),
    show: (rows) => rows,
  })

/** One role; NOT_FOUND when the workspace has none of this id. */
export async function getRole({ db, workspace }: Scope, id: string): Promise<Role> {
  const role = isUuid(id) ? await findRole(db, workspace.id, id) : undefined
  if (!role) throw problem('NOT_FOUND')
  return role
}

/** Makes a role that grants no more than the caller holds; only the owner makes one for visitors. */
export async function createRole(scope: Scope, input: RoleInput): Promise<Role> {
  const wanted = read(input)
  if (wanted.is_anonymous) requireOwner(scope)
  requireGrantable(scope, wanted.policy)
  return insertRole(scope.db, scope.workspace.id, newId(), wanted)
}

/** Replaces a role. One that becomes the visitors' is taken from whoever holds it. */
export async function replaceRole(scope: Scope, id: string, input: RoleInput): Promise<Role> {
  const wanted = read(input)
  return withLockedRole(scope, 'iam:manage_groups', id, async (inside, role) => {
    const { db, workspace } = inside
    if (wanted.is_anonymous && !role.is_anonymous) requireOwner(inside)
    requireGrantable(inside, wanted.policy)
    await requireNoGain(inside, role, wanted.policy)
    if (wanted.is_anonymous) await takeRoleFromAll(db, workspace.id, role.id)
    return updateRole(db, workspace.id, role.id, wanted)
  })
}

/** Deletes a role and takes it from whoever holds it. */
export async function deleteRole(scope: Scope, id: string): Promise<void> {
  await withLockedRole(scope, 'iam:manage_groups', id, async (inside, role) => {
    await requireNoGain(inside, role, [])
    await deleteRoleRow(inside.db, inside.workspace.id, role.id)
  })
}

/** Does work on a role that stays as it is meanwhile, like `inAccessTurn`; NOT_FOUND when the workspace has none of this id. */
export async function withLockedRole<T>(
  scope: Scope,
  permission: Permission,
  id: string,
  work: (scope: Scope, role: Role) => Promise<T>,
): Promise<T> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  return withAccessLock(scope, permission, async (inside) => {
    const role = await lockRole(inside.db, inside.workspace.id, id)
    if (!role) throw problem('NOT_FOUND')
    return work(inside, role)
  })
}

const read = ({ name, description = '', policy = [], is_anonymous = false }: RoleInput) => ({
  name: name.trim(),
  description,
  policy: parsePolicy(policy),
  is_anonymous,
})

function requireOwner({ actor }: Scope): void {
  if (!actor.owner) throw problem('FORBIDDEN', 'Only the owner of the workspace may make a role for visitors')
}

/** A role that nobody holds gives nobody anything by losing rules. */
async function requireNoGain(scope: Scope, role: Role, after: readonly PolicyRule[]): Promise<void> {
  if (role.is_anonymous || (await isRoleHeld(scope.db, scope.workspace.id, role.id))) requireRevocable(scope, role.policy, after)
}
