import { compilePolicy } from '#shared/policy/evaluate.ts'
import { lesserOf } from '#shared/policy/lesser.ts'
import { type Actor, loadActor } from '#shared/scope/actor.ts'
import type { PlatformScope, Scope } from '#shared/scope/scope.ts'
import { enter } from '#workers/enter.ts'

/**
 * The scope of a run's SDK call: its caller, who has the rights of this moment, and no more than each of these authors (document 2,
 * Functions, rule 4). Throws like `enter`.
 */
export async function enterRun(platform: PlatformScope, workspaceId: string, authors: readonly string[]): Promise<Scope> {
  const scope = await enter(platform, workspaceId, 'request')
  let { actor } = scope
  for (const author of authors) actor = await lesserActor(scope, actor, author)
  return { ...scope, actor }
}

async function lesserActor({ cache, db, workspace }: Scope, actor: Actor, authorId: string): Promise<Actor> {
  if (authorId === actor.id) return actor
  const author = await loadActor(cache, db, workspace.id, authorId)
  const policy = author?.policy ?? compilePolicy([], { id: authorId, type: 'user', owner: false })
  return { ...actor, owner: actor.owner && (author?.owner ?? false), policy: lesserOf(actor.policy, policy) }
}
