import type { Scope } from '#shared/core/scope/scope.ts'
import { platformScope } from '#shared/services.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'
import { enterAsCaller } from '#workers/core/workspaces/enter-workspace.ts'

/** The scope of a workspace as a worker enters it for a person or service account, or for the platform. */
export async function scopeOf(
  w: Pick<World, 'api'>,
  org: Pick<Org, 'id'>,
  actor: { id: string; type: 'user' | 'service' } | null = null,
): Promise<Scope> {
  const { services } = w.api
  await services.cache.refresh()
  const cause = {
    actorId: actor?.id ?? null,
    actorType: actor?.type ?? 'system',
    requestId: 'test',
    depth: 0,
    kind: 'system',
    id: null,
  } as const
  return enterAsCaller(platformScope(services, services.database, null, cause), org.id, 'upkeep')
}
