import { sql } from '#shared/db/statement.ts'
import { itemsOf } from '#shared/queues/store/parts.ts'

/** One item. Values: workspace, queue, id. */
export const findItemById = sql(
  'find_queue_item',
  `select ${itemsOf('item')} from queue_items as item where workspace_id = $1 and queue_id = $2 and id = $3`,
)

/** Several items. Values: workspace, queue, ids. */
export const findItems = sql(
  'find_queue_items',
  `select ${itemsOf('item')} from queue_items as item where workspace_id = $1 and queue_id = $2 and id = any($3::uuid[]) order by id`,
)

/** The oldest open item of a key. Values: workspace, queue, key. */
export const findOpenByKey = sql(
  'find_open_queue_item',
  `select ${itemsOf('item')} from queue_items as item
   where workspace_id = $1 and queue_id = $2 and key = $3 and status = 'open'
   order by id limit 1`,
)

/** The open items that link a record. Values: workspace, queue, records. */
export const findOpenOfRecords = sql(
  'find_open_queue_items_of_records',
  `select id, record_id, stage from queue_items
   where workspace_id = $1 and queue_id = $2 and record_id = any($3::uuid[]) and status = 'open'
   order by id`,
)

/** What became of scans that were judged before, and whether their items had entered their stages after they were scanned. Values: workspace, queue, scan ids. */
export const findScans = sql(
  'find_queue_scans',
  `select scan_id, item_id, verdict, note, exists (
     select from queue_history as earlier
     where earlier.workspace_id = $1 and earlier.queue_id = $2 and earlier.item_id = scan.item_id and earlier.id < scan.id
       and earlier.kind in ('added', 'moved') and earlier.created_at > scan.scanned_at
   ) as conflict
   from queue_history as scan
   where workspace_id = $1 and queue_id = $2 and scan_id = any($3::text[])
   order by id`,
)
