import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { type FollowedQueues, type ItemAccess, itemAccessOf } from '#shared/features/queues/items/item-access-store.ts'
import { findItemById } from '#shared/features/queues/items/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Queues by what the caller sees of their items: every one, or those in a sight. */
export interface QueueAccess {
  readonly unrestricted: readonly Queue[]
  readonly limited: readonly Queue[]
  /** Of the items of `limited`. */
  readonly itemAccess: ItemAccess
}

/**
 * What the caller sees of queues' items. Where items follow their records, an item is seen whose record the caller may read now, or that has
 * none. A caller that may read every record of the type sees all items, also those of deleted records; others see none of these.
 */
export async function readQueueAccess(scope: Scope, queues: readonly Queue[]): Promise<QueueAccess> {
  const following = queues.filter(({ settings }) => settings.items_follow_records)
  const limited: Queue[] = []
  const followed: FollowedQueues[] = []
  for (const [typeKey, those] of Map.groupBy(following, ({ object_type }) => object_type ?? '')) {
    const type = await findRecordType(scope, typeKey)
    const access = scope.actor.policy.recordAccess('records:read', typeKey, type?.fields ?? [])
    if (access.verdict === 'all') continue
    limited.push(...those)
    followed.push({ queueIds: those.map(({ id }) => id), type: access.verdict === 'none' ? undefined : type, access })
  }
  return { unrestricted: queues.filter((queue) => !limited.includes(queue)), limited, itemAccess: itemAccessOf(followed) }
}

/**
 * Does work with what the caller sees of a queue's items; undefined for all of them. Where items do not follow their records nothing is asked.
 */
export async function withItemAccess<T>(scope: Scope, queue: Queue, work: (sight: ItemAccess | undefined) => Promise<T>): Promise<T> {
  if (!queue.settings.items_follow_records) return work(undefined)
  const { limited, itemAccess } = await readQueueAccess(scope, [queue])
  return work(limited.length === 0 ? undefined : itemAccess)
}

/** Throws NOT_FOUND for an item that is hidden from the caller; of one that is not there at all the work that follows says so. */
export const requireItemAccess = (scope: Scope, queue: Queue, itemId: string): Promise<void> =>
  withItemAccess(scope, queue, async (sight) => {
    if (!sight) return
    const found = await readRows(scope, findItemById(sight, scope.workspace.id, queue.id, itemId))
    if (found.length === 0) throw problem('NOT_FOUND')
  })
