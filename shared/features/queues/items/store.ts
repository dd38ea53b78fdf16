import { entryAccessSql } from '#shared/features/queues/history/store.ts'
import { accessStatement } from '#shared/features/queues/items/item-access-store.ts'
import { itemColumnsOf } from '#shared/features/queues/store.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** One item. Values: workspace, queue, id. */
export const findItemById = accessStatement(
  'find_queue_item',
  (seen) =>
    `select ${itemColumnsOf('item')} from queue_items as item
     where workspace_id = $1 and queue_id = $2 and id = $3${seen('item.record_id', 'item.queue_id')}`,
)

/** Several items. Values: workspace, queue, ids. */
export const findItems = accessStatement(
  'find_queue_items',
  (seen) =>
    `select ${itemColumnsOf('item')} from queue_items as item
     where workspace_id = $1 and queue_id = $2 and id = any($3::uuid[])${seen('item.record_id', 'item.queue_id')} order by id`,
)

/** The ids of those items that the caller may see. Values: workspace, queue, ids. */
export const findAccessibleIds = accessStatement(
  'find_queue_item_ids',
  (seen) =>
    `select item.id from queue_items as item
     where workspace_id = $1 and queue_id = $2 and id = any($3::uuid[])${seen('item.record_id', 'item.queue_id')} order by id`,
)

/** The oldest open item of a key. Values: workspace, queue, key. */
export const findOpenByKey = sql(
  'find_open_queue_item',
  `select ${itemColumnsOf('item')} from queue_items as item
   where workspace_id = $1 and queue_id = $2 and key = $3 and status = 'open'
   order by id limit 1`,
)

/**
 * The oldest open item of a key that the caller may see, else the oldest open item of the key; `is_seen` tells whether the caller may see
 * it. Values: workspace, queue, key.
 */
export const findAccessibleByKey = accessStatement(
  'find_seen_queue_item',
  (seen) =>
    `select ${itemColumnsOf('item')}, item.is_seen from (
       select one.*, true${seen('one.record_id', 'one.queue_id')} as is_seen from queue_items as one
       where workspace_id = $1 and queue_id = $2 and key = $3 and status = 'open'
     ) as item
     order by is_seen desc, id limit 1`,
)

/** The open items that link a record. Values: workspace, queue, records. */
export const findOpenItemsOfRecords = sql(
  'find_open_queue_items_of_records',
  `select id, record_id, stage from queue_items
   where workspace_id = $1 and queue_id = $2 and record_id = any($3::uuid[]) and status = 'open'
   order by id`,
)

/**
 * The verdicts of scans that have been judged. `conflict`: the item had entered its stage after it was scanned. `is_seen`: the caller may
 * see the scan's history entry. Values: workspace, queue, scan ids.
 */
export const findScans = accessStatement(
  'find_queue_scans',
  (seen) =>
    `select scan_id, item_id, verdict, note, exists (
       select from queue_history as earlier
       where earlier.workspace_id = $1 and earlier.queue_id = $2 and earlier.item_id = scan.item_id and earlier.id < scan.id
         and earlier.kind in ('added', 'moved') and earlier.created_at > scan.scanned_at
     ) as conflict, true${entryAccessSql(seen, 'scan')} as is_seen
     from queue_history as scan
     where workspace_id = $1 and queue_id = $2 and scan_id = any($3::text[])
     order by id`,
)
