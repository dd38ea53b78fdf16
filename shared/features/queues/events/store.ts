import { accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import type { ItemStatus } from '#shared/features/queues/items/schemas.ts'
import { text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { insertHappenings } from '#shared/platform/events/inbox-store.ts'

/** Parameters of the SQL that `insertItemEvents` makes, beside `workspaceId` and `queueId`. */
export const itemEventParams = {
  /** The cause as JSON text. */
  cause: text,
  /** The queue's record type. */
  objectType: text.orNull,
} as const

/**
 * The select list of an event of an item for `insertItemEvents`; `item` is the name of its row, `data` SQL by key. `position` orders the
 * events of a statement.
 */
export const itemEvent = (
  event: 'added' | 'moved' | 'claimed' | 'closed',
  item: string,
  data: Readonly<Record<string, string>>,
  position: string,
): string =>
  `'item.${event}' as event, $queueId::uuid::text as topic, ${item}.id as subject_id,
   jsonb_build_object('queue', $queueId::uuid, 'id', ${item}.id, 'key', ${item}.key) as subject,
   jsonb_build_object(${Object.entries(data)
     .map(([key, sql]) => `'${key}', ${sql}`)
     .join(', ')}, 'batch', ${item}.batch, 'record_id', ${item}.record_id) as data,
   jsonb_build_object('object_type', $objectType::text) as kept, ${position} as position`

/** The select list of the event that an item is open no more; `status` is SQL of `ClosedStatus`. */
export const closedEvent = (item: string, status: string, position: string): string =>
  itemEvent('closed', item, { stage: `${item}.stage`, status }, position)

/** How an open item ended. */
export const closedStatuses = ['done', 'failed', 'cancelled', 'deleted'] as const satisfies readonly (
  | Exclude<ItemStatus, 'open'>
  | 'deleted'
)[]

/** Inserts events of items as part of the statement that changes them; `rows` are selects of `itemEvent`. */
export const insertItemEvents = (rows: string): string =>
  insertHappenings({ source: 'queues', workspace: '$workspaceId', cause: '$cause', from: rows })

/**
 * Which events are of items that the caller may see. The three lists are parallel: an event's id, its item's record or null, and its queue.
 */
export const findAccessibleEvents = accessStatement(
  'queues.findAccessibleEvents',
  (accessSql) =>
    `select item.id from unnest($ids::uuid[], $recordIds::uuid[], $queueIds::uuid[]) as item (id, record_id, queue_id)
     where true${accessSql('item.record_id', 'item.queue_id')}`,
  { params: { ids: uuids, recordIds: uuids, queueIds: uuids }, columns: { id: uuid } },
)
