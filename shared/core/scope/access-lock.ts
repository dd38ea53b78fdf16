import type { Permission } from '#shared/core/policy/permissions.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { type Actor, readActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { lockWorkspace } from '#shared/core/scope/workspace.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Does work that takes rights in a workspace from somebody, or gives some: one at a time, and by the rights that its caller has once its
 * turn has come. Otherwise two who take each other's rights would both succeed, and somebody who is being removed could leave an invitation
 * to itself behind. NOT_FOUND when the caller has left the workspace meanwhile, FORBIDDEN when its roles allow `permission` no more.
 */
export function withAccessLock<T>(scope: Scope, permission: Permission, work: (scope: Scope) => Promise<T>): Promise<T> {
  return scope.db.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, scope.workspace.id)
    const inside = within(scope, tx)
    const actor = workspace && (await presentActor(inside))
    if (!actor) throw problem('NOT_FOUND')
    const present = { ...inside, workspace, actor }
    requirePermission(present, permission)
    return work(present)
  })
}

/** The platform itself is no member of a workspace and may do everything. */
const presentActor = async ({ db, workspace, actor }: Scope): Promise<Actor | undefined> =>
  actor.id === null ? actor : readActor(db, workspace.id, actor.id)
