import { accessStatement, type ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { asHeavy, type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/**
 * Stored counts of the items of queues, by stage, status and whether a scan made the item: of one batch, or of all items when the batch is
 * ''. Values: workspace, queue ids, batch.
 */
export const findCounts = sql(
  'find_queue_counts',
  `select queue_id, stage, status, unexpected, sum(items)::bigint as items
   from queue_counts
   where workspace_id = $1 and queue_id = any($2::uuid[]) and batch = $3
   group by queue_id, stage, status, unexpected having sum(items) <> 0
   order by queue_id, stage, status, unexpected`,
)

const countWithAccess = accessStatement(
  'count_seen_queue_items',
  (seen) =>
    `select item.queue_id, item.stage, item.status, item.source = 'scan' as unexpected, count(*) as items
     from queue_items as item
     where item.workspace_id = $1 and item.queue_id = any($2::uuid[]) and ($3::text = '' or (item.batch <> '' and item.batch = $3))
       ${seen('item.record_id', 'item.queue_id')}
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
)

/** Like `findCounts`, but counts only the items that the caller may see. It reads each item of the queues, so it is heavy. */
export const countAccessible = (access: ItemAccess, workspaceId: string, queueIds: readonly string[], batch: string): Statement =>
  asHeavy(countWithAccess(access, workspaceId, queueIds, batch), 'batch or limit')

/**
 * Number of overdue open items by queue; reads only those items. Values: workspace, queue ids, the current time, three parallel arrays for
 * the stages with a time limit (queue id, stage key, instant: items that entered the stage before it are overdue), batch or null for all.
 */
export const countOverdue = accessStatement(
  'count_overdue_queue_items',
  (seen) => `select queue_id, count(*) as items from (
     select item.queue_id, item.id
     from unnest($4::uuid[], $5::text[], $6::timestamptz[]) as late (queue_id, stage, cutoff)
     join queue_items as item on item.workspace_id = $1 and item.queue_id = late.queue_id and item.stage = late.stage
       and item.status = 'open' and item.entered_stage_at < late.cutoff and ($7::text is null or item.batch = $7)${seen('item.record_id', 'item.queue_id')}
     union
     select item.queue_id, item.id
     from queue_items as item
     where item.workspace_id = $1 and item.queue_id = any($2::uuid[]) and item.status = 'open' and item.due_at < $3::timestamptz
       and ($7::text is null or item.batch = $7)${seen('item.record_id', 'item.queue_id')}
   ) as overdue
   group by queue_id order by queue_id`,
)

/** The batches of a queue with the numbers of their items. Values: workspace, queue. */
export const findBatches = sql(
  'find_queue_batches',
  `select batch, sum(items)::bigint as total, coalesce(sum(items) filter (where status = 'open'), 0)::bigint as open,
     coalesce(sum(items) filter (where status <> 'open'), 0)::bigint as closed
   from queue_counts
   where workspace_id = $1 and queue_id = $2 and batch <> ''
   group by batch having sum(items) > 0
   order by batch`,
)

const findBatchesWithAccess = accessStatement(
  'find_seen_queue_batches',
  (seen) =>
    `select item.batch, count(*) as total, count(*) filter (where item.status = 'open') as open,
       count(*) filter (where item.status <> 'open') as closed
     from queue_items as item
     where item.workspace_id = $1 and item.queue_id = $2 and item.batch <> ''${seen('item.record_id', 'item.queue_id')}
     group by item.batch order by item.batch`,
)

/** Like `findBatches`, but counts only the items that the caller may see, by reading them. */
export const findAccessibleBatches = (access: ItemAccess, workspaceId: string, queueId: string): Statement =>
  asHeavy(findBatchesWithAccess(access, workspaceId, queueId), 'batch or limit')

/** Number of items in the work queues of all workspaces, by status. */
export const countAllItems = sql(
  'count_all_queue_items',
  `select status, sum(items)::bigint as items
   from queues as queue join queue_counts as kept on kept.workspace_id = queue.workspace_id and kept.queue_id = queue.id and kept.batch = ''
   where queue.deleted_at is null
   group by status order by status`,
)
