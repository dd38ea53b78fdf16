import { type Actor, loadActor, loadVisitor, systemActor, withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { findWorkspace } from '#shared/core/scope/workspace.ts'
import { isSuspensionError, requireNotHalted, type WorkKind } from '#shared/platform/kernel/background.ts'
import { impersonalCause } from '#shared/platform/kernel/cause.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * Enters a workspace as whoever caused the work, with the rights that it has now; the platform's own work may do everything. NOT_FOUND when
 * the workspace is gone, ORG_SUSPENDED where this kind of work does not go on then, FORBIDDEN when the caller has left it. Under an impersonal
 * cause the actor has no personal standing.
 */
export async function enterAsCaller(platform: PlatformScope, workspaceId: string, work: WorkKind): Promise<Scope> {
  const { cache, db } = platform
  const workspace = await cache.remember(db, workspaceId, 'workspace', () => findWorkspace(db, workspaceId))
  if (!workspace) throw problem('NOT_FOUND')
  requireNotHalted({ work, app: null }, workspace)
  const actor = await actorOf(platform, workspaceId)
  if (!actor) throw problem('FORBIDDEN', 'The caller that started this work has left the workspace')
  return {
    ...platform,
    db: db.forWorkspace(workspaceId),
    workspace,
    actor: platform.cause.impersonal ? withoutPersonalStanding(actor) : actor,
  }
}

/**
 * Enters a workspace as one of its people or service accounts who did not cause the work: the last editor of a flow, a form or a queue. What
 * is done then is done by that one, with the rights that it has now; what it enqueues too. It is a step of an automation. Nothing personal of
 * that principal is reached unless `isPersonal` says that the work is its own. Throws like `enter`.
 */
export async function enterAsPrincipal(
  platform: PlatformScope,
  workspaceId: string,
  principalId: string,
  isPersonal = false,
): Promise<Scope> {
  const acting = { ...platform.cause, actorId: principalId, actorType: 'user' } as const
  const cause = isPersonal ? acting : impersonalCause(acting)
  const scope = await enterAsCaller({ ...platform, cause }, workspaceId, 'step')
  return { ...scope, cause: { ...scope.cause, actorType: scope.actor.type } }
}

/** What came of work that may be refused. */
export type RefusableResult<T> = { readonly value: T; readonly refusal?: undefined } | { readonly refusal: Problem }

/**
 * Does work on behalf of somebody who is not there to hear of a failure: a Problem below 500, such as FORBIDDEN of one who has lost a role or
 * has left, is a result to write down. Any other failure is thrown, so that the job is tried again, and so is ORG_SUSPENDED, so that it rests.
 */
export async function catchRefusal<T>(work: () => Promise<T>): Promise<RefusableResult<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof Problem && error.status < 500 && !isSuspensionError(error)) return { refusal: error }
    throw error
  }
}

async function actorOf({ cache, db, cause }: PlatformScope, workspaceId: string): Promise<Actor | undefined> {
  if (cause.actorId !== null) return loadActor(cache, db, workspaceId, cause.actorId)
  return cause.actorType === 'anonymous' ? loadVisitor(cache, db, workspaceId) : systemActor
}
