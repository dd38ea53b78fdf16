import { type Actor, loadActor, loadVisitor, systemActor, withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { loadWorkspace } from '#shared/core/scope/workspace.ts'
import { isSuspensionError, requireNotHalted, type WorkKind } from '#shared/platform/kernel/background.ts'
import { impersonalCause } from '#shared/platform/kernel/cause.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * Enters a workspace as the principal that caused the work, with its current rights; work of the platform itself is allowed everything.
 * Throws NOT_FOUND when the workspace was deleted, ORG_SUSPENDED when it is suspended and this kind of work does not run then, and FORBIDDEN
 * when the caller has left the workspace. The actor has no personal standing if `cause.impersonal` is set: one person's work runs for
 * another.
 */
export async function enterAsCaller(platform: PlatformScope, workspaceId: string, work: WorkKind): Promise<Scope> {
  const { cache, db } = platform
  const workspace = await loadWorkspace(cache, db, workspaceId)
  if (!workspace) throw problem('NOT_FOUND')
  requireNotHalted({ work, app: null }, workspace)
  const actor = await resolveActor(platform, workspaceId)
  if (!actor) throw problem('FORBIDDEN', 'The caller that started this work has left the workspace')
  return {
    ...platform,
    db: db.forWorkspace(workspaceId, workspace.share_id),
    workspace,
    actor: platform.cause.impersonal ? withoutPersonalStanding(actor) : actor,
  }
}

/** The scope of long work with the rights that its caller holds now. Throws like `enterAsCaller`. Call it outside a transaction. */
export async function renewRights(scope: Scope): Promise<Scope> {
  await scope.cache.refresh()
  return enterAsCaller(scope, scope.workspace.id, 'request')
}

/**
 * Enters a workspace as a principal that did not cause the work: the last editor of a flow, a form or a queue. The work, and the jobs that
 * it enqueues, run with that principal's current rights. The kind of work is `step`. The actor has no personal standing unless `isPersonal`
 * marks the work as the principal's own. Throws like `enterAsCaller`.
 */
export async function enterAsPrincipal(
  platform: PlatformScope,
  workspaceId: string,
  principalId: string,
  isPersonal = false,
): Promise<Scope> {
  const principalCause = { ...platform.cause, actorId: principalId, actorType: 'user' } as const
  const cause = isPersonal ? principalCause : impersonalCause(principalCause)
  const scope = await enterAsCaller({ ...platform, cause }, workspaceId, 'step')
  return { ...scope, cause: { ...scope.cause, actorType: scope.actor.type } }
}

/** Value of the work, or the Problem that refused it. */
export type RefusableResult<T> = { readonly value: T; readonly refusal?: undefined } | { readonly refusal: Problem }

/**
 * Runs work for a principal that does not wait for it. A Problem below 500, such as FORBIDDEN after a role was lost, is returned to be
 * recorded. Any other error is thrown, so that the job is retried. ORG_SUSPENDED is thrown too, so that the job
 * is deferred.
 */
export async function catchRefusal<T>(work: () => Promise<T>): Promise<RefusableResult<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof Problem && error.status < 500 && !isSuspensionError(error)) return { refusal: error }
    throw error
  }
}

async function resolveActor({ cache, db, cause }: PlatformScope, workspaceId: string): Promise<Actor | undefined> {
  if (cause.actorId !== null) return loadActor(cache, db, workspaceId, cause.actorId)
  return cause.actorType === 'anonymous' ? loadVisitor(cache, db, workspaceId) : systemActor
}
