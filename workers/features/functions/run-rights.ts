import { compilePolicy } from '#shared/core/policy/evaluate.ts'
import { intersectPolicies } from '#shared/core/policy/grants/intersect-policies.ts'
import { type Actor, loadActor, withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { impersonalCause } from '#shared/platform/kernel/cause.ts'
import { enterAsCaller } from '#workers/core/workspaces/enter-workspace.ts'

/** Authors of the running functions, and whether a run has only the rights that its caller and all authors share. */
export interface Authorship {
  readonly authors: readonly string[]
  /** Whether the run has no more rights than each author (docs/contract/functions.md#rights-of-a-run). */
  readonly isLesser: boolean
}

/**
 * The scope of a run's SDK call: the run's caller with its current rights. With `isLesser` the rights are limited to those that each author
 * has, too. A run whose function has an author other than the caller has no personal standing, nor has any work that it causes. Throws like
 * `enterAsCaller`.
 */
export async function enterRun(platform: PlatformScope, workspaceId: string, { authors, isLesser }: Authorship): Promise<Scope> {
  const scope = await enterAsCaller(platform, workspaceId, 'request')
  if (authors.every((author) => author === scope.actor.id)) return scope
  let actor = withoutPersonalStanding(scope.actor)
  if (isLesser) for (const author of authors) actor = await lesserActor(scope, actor, author)
  return { ...scope, cause: impersonalCause(scope.cause), actor }
}

async function lesserActor({ cache, db, workspace }: Scope, actor: Actor, authorId: string): Promise<Actor> {
  if (authorId === actor.id) return actor
  const author = await loadActor(cache, db, workspace.id, authorId)
  const policy = author?.policy ?? compilePolicy([], { id: authorId, type: 'user', owner: false })
  return {
    ...actor,
    owner: actor.owner && (author?.owner ?? false),
    isMember: actor.isMember && (author?.isMember ?? false),
    policy: intersectPolicies(actor.policy, policy),
  }
}
