import { entryAccessSql } from '#shared/features/queues/history/store.ts'
import { accessSearch, accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import type { ScanVerdict } from '#shared/features/queues/items/schemas.ts'
import { itemColumns, itemColumnsOf } from '#shared/features/queues/store.ts'
import { boolean, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** One item. */
export const findItemById = accessStatement(
  'queues.findItemById',
  (accessSql) =>
    `select ${itemColumnsOf('item')} from queue_items as item
     where workspace_id = $workspaceId and queue_id = $queueId and id = $id${accessSql('item.record_id', 'item.queue_id')}`,
  { params: { workspaceId: uuid, queueId: uuid, id: uuid }, columns: itemColumns },
)

/** Several items. */
export const findItems = accessStatement(
  'queues.findItems',
  (accessSql) =>
    `select ${itemColumnsOf('item')} from queue_items as item
     where workspace_id = $workspaceId and queue_id = $queueId and id = any($ids::uuid[])${accessSql('item.record_id', 'item.queue_id')}
     order by id`,
  { params: { workspaceId: uuid, queueId: uuid, ids: uuids }, columns: itemColumns },
)

/** The ids of those items that the caller may see. */
export const findAccessibleIds = accessStatement(
  'queues.findAccessibleIds',
  (accessSql) =>
    `select item.id from queue_items as item
     where workspace_id = $workspaceId and queue_id = $queueId and id = any($ids::uuid[])${accessSql('item.record_id', 'item.queue_id')}
     order by id`,
  { params: { workspaceId: uuid, queueId: uuid, ids: uuids }, columns: { id: uuid.notNull } },
)

/** The oldest open item of a key. */
export const findOpenByKey = statement(
  'queues.findOpenByKey',
  `select ${itemColumnsOf('item')} from queue_items as item
   where workspace_id = $workspaceId and queue_id = $queueId and key = $key and status = 'open'
   order by id limit 1`,
  { params: { workspaceId: uuid, queueId: uuid, key: text }, columns: itemColumns },
)

/**
 * The oldest open item of a key that the caller may see, else the oldest open item of the key; `is_seen` tells whether the caller may see
 * it.
 */
export const findAccessibleByKey = accessStatement(
  'queues.findAccessibleByKey',
  (accessSql) =>
    `select ${itemColumnsOf('item')}, item.is_seen from (
       select one.*, true${accessSql('one.record_id', 'one.queue_id')} as is_seen from queue_items as one
       where workspace_id = $workspaceId and queue_id = $queueId and key = $key and status = 'open'
     ) as item
     order by is_seen desc, id limit 1`,
  { params: { workspaceId: uuid, queueId: uuid, key: text }, columns: { ...itemColumns, is_seen: boolean.notNull } },
)

/** The open items that link a record. */
export const findOpenItemsOfRecords = statement(
  'queues.findOpenItemsOfRecords',
  `select id, record_id, stage from queue_items
   where workspace_id = $workspaceId and queue_id = $queueId and record_id = any($recordIds::uuid[]) and status = 'open'
   order by id`,
  {
    params: { workspaceId: uuid, queueId: uuid, recordIds: uuids },
    columns: { id: uuid.notNull, record_id: uuid, stage: text.notNull },
  },
)

const scanColumns = {
  scan_id: text,
  item_id: uuid,
  verdict: text.as<ScanVerdict>(),
  note: text.notNull,
  /** Whether the item had entered its stage after it was scanned. */
  conflict: boolean.notNull,
  /** Whether the caller may see the scan's history entry. */
  is_seen: boolean.notNull,
}

/** The verdict of a scan that has been judged. */
export type ScanRow = RowOf<typeof scanColumns>

/** The verdicts of scans that have been judged. */
export const findScans = accessSearch(
  'queues.findScans',
  (accessSql) =>
    `select scan_id, item_id, verdict, note, exists (
       select from queue_history as earlier
       where earlier.workspace_id = $workspaceId and earlier.queue_id = $queueId and earlier.item_id = scan.item_id and earlier.id < scan.id
         and earlier.kind in ('added', 'moved') and earlier.created_at > scan.scanned_at
     ) as conflict, true${entryAccessSql(accessSql, 'scan')} as is_seen
     from queue_history as scan
     where workspace_id = $workspaceId and queue_id = $queueId and scan_id = any($scanIds::text[])
     order by id`,
  { params: { workspaceId: uuid, queueId: uuid, scanIds: texts }, columns: scanColumns },
)
