import type { Permission } from '#shared/core/policy/permissions.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { type Actor, readActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { lockWorkspace } from '#shared/core/scope/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Runs work that grants or revokes rights in a workspace. Such work runs one at a time, under the rights its caller has after the lock is
 * taken. Otherwise two members that revoke each other's rights would both succeed, and a member being removed could leave an invitation to
 * itself behind. NOT_FOUND when the caller has left the workspace meanwhile, FORBIDDEN when its roles no longer allow `permission`.
 */
export function withAccessLock<T>(scope: Scope, permission: Permission, work: (scope: Scope) => Promise<T>): Promise<T> {
  return scope.db.transaction(async (tx) => {
    const workspace = await firstRow(tx, lockWorkspace({ id: scope.workspace.id }))
    const locked = within(scope, tx)
    const actor = workspace && (await readCurrentActor(locked))
    if (!actor) throw problem('NOT_FOUND')
    const current = { ...locked, workspace, actor }
    requirePermission(current, permission)
    return work(current)
  })
}

/** The platform itself is not a member of any workspace and is allowed everything. */
const readCurrentActor = async ({ db, workspace, actor }: Scope): Promise<Actor | undefined> =>
  actor.id === null ? actor : readActor(db, workspace.id, actor.id)
