import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { type FollowedQueues, type ItemAccess, itemAccessOf } from '#shared/features/queues/items/item-access-store.ts'
import { findItemById } from '#shared/features/queues/items/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'

/** Queues grouped by the caller's access to their items: all items, or those that `itemAccess` admits. */
interface QueueAccess {
  readonly unrestricted: readonly Queue[]
  readonly limited: readonly Queue[]
  /** Applies to the items of `limited`. */
  readonly itemAccess: ItemAccess
}

/**
 * The caller's access to items of queues. Where items follow their records, an item is visible when the caller may read its record now, or
 * when it has no record. A caller that may read every record of the type also sees items of deleted records; other callers do not.
 */
export async function readQueueAccess(scope: Scope, queues: readonly Queue[]): Promise<QueueAccess> {
  const following = queues.filter(({ settings }) => settings.items_follow_records)
  const limited: Queue[] = []
  const followed: FollowedQueues[] = []
  for (const [typeKey, sameType] of Map.groupBy(following, ({ object_type }) => object_type ?? '')) {
    const type = await findRecordType(scope, typeKey)
    const access = scope.actor.policy.recordAccess('records:read', typeKey, type?.fields ?? [])
    if (access.verdict === 'all') continue
    limited.push(...sameType)
    followed.push({ queueIds: sameType.map(({ id }) => id), type: access.verdict === 'none' ? undefined : type, access })
  }
  return { unrestricted: queues.filter((queue) => !limited.includes(queue)), limited, itemAccess: itemAccessOf(followed) }
}

/**
 * Calls `work` with the caller's item access, undefined when all items are visible. Runs no query when items do not follow their records.
 */
export async function withItemAccess<T>(scope: Scope, queue: Queue, work: (itemAccess: ItemAccess | undefined) => Promise<T>): Promise<T> {
  if (!queue.settings.items_follow_records) return work(undefined)
  const { limited, itemAccess } = await readQueueAccess(scope, [queue])
  return work(limited.length === 0 ? undefined : itemAccess)
}

/**
 * Throws NOT_FOUND for an item hidden from the caller. When the caller sees all items, nothing is read: the caller's next statement reports
 * an item that does not exist.
 */
export const requireItemAccess = (scope: Scope, queue: Queue, itemId: string): Promise<void> =>
  withItemAccess(scope, queue, async (itemAccess) => {
    if (!itemAccess) return
    requireRow(await readRows(scope, findItemById(itemAccess, { workspaceId: scope.workspace.id, queueId: queue.id, id: itemId })))
  })
