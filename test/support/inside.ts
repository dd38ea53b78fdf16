import { randomUUID } from 'node:crypto'
import type { Scope } from '#shared/scope/scope.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'
import { enter } from '#workers/enter.ts'

/** The scope of a person of a workspace, its owner by default, for what rooms ask each other and no route shows. */
export function inside({ api }: Pick<World, 'api'>, org: Org, userId: string = org.ownerId): Promise<Scope> {
  const { database: db, waiter: _, rateLimits: __, ...services } = api.services
  const cause = { actorId: userId, actorType: 'user', requestId: `inside-${randomUUID().slice(0, 8)}`, depth: 0 } as const
  return enter({ ...services, db, principal: null, cause }, org.id)
}
