import type { ShowEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { permits, permitsAll } from '#shared/core/scope/access.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { findQueuesByIds } from '#shared/features/queues/definitions/store.ts'
import { findAccessibleEvents } from '#shared/features/queues/events/store.ts'
import { readQueueAccess } from '#shared/features/queues/items/item-access.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'

/**
 * Prepares showing events of items to who may read their queue and sees the item now (docs/contract/queues.md#items-that-follow-records).
 * Events of a deleted queue are for who may read every queue and is denied none; of an item with a record, if it may read every record of the
 * type too, since nothing tells whether the queue's items followed their records.
 */
export async function prepareItemEvents(scope: Scope, events: readonly StoredEvent[]): Promise<ShowEvent> {
  const workspaceId = scope.workspace.id
  const queues = await readRows(scope, findQueuesByIds({ workspaceId, ids: [...new Set(events.map(({ topic }) => topic))] }))
  const known = new Set(queues.map(({ id }) => id))
  const { unrestricted, limited, itemAccess } = await readQueueAccess(
    scope,
    queues.filter(({ key }) => permits(scope, 'queues:read', key)),
  )
  const isLimited = new Set(limited.map(({ id }) => id))
  const judged = events.filter(({ topic }) => isLimited.has(topic))
  const rows =
    judged.length === 0
      ? []
      : await readRows(
          scope,
          findAccessibleEvents(itemAccess, {
            ids: judged.map(({ id }) => id),
            recordIds: judged.map(recordIdOf),
            queueIds: judged.map(({ topic }) => topic),
          }),
        )
  const accessible = new Set(rows.map(({ id }) => id))
  const readable = new Set(unrestricted.map(({ id }) => id))
  return async (event) => {
    const isShown = known.has(event.topic)
      ? readable.has(event.topic) || accessible.has(event.id)
      : permitsAll(scope, 'queues:read') && (recordIdOf(event) === null || (await readsEveryRecord(scope, event)))
    return isShown ? showStored(event) : undefined
  }
}

const recordIdOf = ({ data }: StoredEvent): string | null => (typeof data?.record_id === 'string' ? data.record_id : null)

/** Whether the caller may read every record of the type that the queue had at the event. */
async function readsEveryRecord(scope: Scope, { kept }: StoredEvent): Promise<boolean> {
  const typeKey = typeof kept?.object_type === 'string' ? kept.object_type : ''
  const type = await findRecordType(scope, typeKey)
  return scope.actor.policy.recordAccess('records:read', typeKey, type?.fields ?? []).verdict === 'all'
}
