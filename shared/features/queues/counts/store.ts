import { accessSearch, accessStatement, type ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import {
  bigint,
  boolean,
  instant,
  instants,
  type ParamsOf,
  type RowOf,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { asSearch, type Statement, statement } from '#shared/platform/db/statements/statement.ts'

const countColumns = {
  queue_id: uuid.notNull,
  stage: text.notNull,
  status: text.notNull,
  /** Whether a scan made the items. */
  unexpected: boolean.notNull,
  items: bigint.notNull,
}

/** Number of items of a queue by stage, status and whether a scan made them. */
export type CountRow = RowOf<typeof countColumns>

/** `batch` is '' for the items of all batches. */
const countParams = { workspaceId: uuid, queueIds: uuids, batch: text }

/** Stored counts of the items of queues: of one batch, or of all items when the batch is ''. */
export const findCounts = statement(
  'queues.findCounts',
  `select queue_id, stage, status, unexpected, sum(items)::bigint as items
   from queue_counts
   where workspace_id = $workspaceId and queue_id = any($queueIds::uuid[]) and batch = $batch
   group by queue_id, stage, status, unexpected having sum(items) <> 0
   order by queue_id, stage, status, unexpected`,
  { params: countParams, columns: countColumns },
)

const countItemsWithAccess = accessStatement(
  'queues.countItemsWithAccess',
  (accessSql) =>
    `select item.queue_id, item.stage, item.status, item.source = 'scan' as unexpected, count(*) as items
     from queue_items as item
     where item.workspace_id = $workspaceId and item.queue_id = any($queueIds::uuid[])
       and ($batch::text = '' or (item.batch <> '' and item.batch = $batch))
       ${accessSql('item.record_id', 'item.queue_id')}
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  { params: countParams, columns: countColumns },
)

/** Like `findCounts`, but counts only the items that the caller may see. It reads each item of the queues. */
export const countAccessible = (access: ItemAccess, parameters: ParamsOf<typeof countParams>): Statement<CountRow> =>
  asSearch(countItemsWithAccess(access, parameters), 'batch or limit')

/**
 * Number of overdue open items by queue; reads only those items. An item is overdue by its `due_at`, or when it entered its stage before the
 * cutoff of a stage with a time limit. `batch` is null for the items of all batches.
 */
export const countOverdue = accessSearch(
  'queues.countOverdue',
  (accessSql) => `select queue_id, count(*) as items from (
     select item.queue_id, item.id
     from unnest($limitedQueueIds::uuid[], $limitedStages::text[], $cutoffs::timestamptz[]) as late (queue_id, stage, cutoff)
     join queue_items as item on item.workspace_id = $workspaceId and item.queue_id = late.queue_id and item.stage = late.stage
       and item.status = 'open' and item.entered_stage_at < late.cutoff
       and ($batch::text is null or item.batch = $batch)${accessSql('item.record_id', 'item.queue_id')}
     union
     select item.queue_id, item.id
     from queue_items as item
     where item.workspace_id = $workspaceId and item.queue_id = any($queueIds::uuid[]) and item.status = 'open'
       and item.due_at < $now::timestamptz
       and ($batch::text is null or item.batch = $batch)${accessSql('item.record_id', 'item.queue_id')}
   ) as overdue
   group by queue_id order by queue_id`,
  {
    params: {
      workspaceId: uuid,
      queueIds: uuids,
      now: instant,
      /** Queue, stage and cutoff of each stage with a time limit. */
      limitedQueueIds: uuids,
      limitedStages: texts,
      cutoffs: instants,
      batch: text.orNull,
    },
    columns: { queue_id: uuid.notNull, items: bigint.notNull },
  },
)

const batchColumns = { batch: text.notNull, total: bigint.notNull, open: bigint.notNull, closed: bigint.notNull }
const batchParams = { workspaceId: uuid, queueId: uuid }

/** The batches of a queue with the numbers of their items. */
export const findBatches = statement(
  'queues.findBatches',
  `select batch, sum(items)::bigint as total, coalesce(sum(items) filter (where status = 'open'), 0)::bigint as open,
     coalesce(sum(items) filter (where status <> 'open'), 0)::bigint as closed
   from queue_counts
   where workspace_id = $workspaceId and queue_id = $queueId and batch <> ''
   group by batch having sum(items) > 0
   order by batch`,
  { params: batchParams, columns: batchColumns },
)

const findBatchesWithAccess = accessStatement(
  'queues.findBatchesWithAccess',
  (accessSql) =>
    `select item.batch, count(*) as total, count(*) filter (where item.status = 'open') as open,
       count(*) filter (where item.status <> 'open') as closed
     from queue_items as item
     where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.batch <> ''${accessSql('item.record_id', 'item.queue_id')}
     group by item.batch order by item.batch`,
  { params: batchParams, columns: batchColumns },
)

/** Like `findBatches`, but counts only the items that the caller may see, by reading them. */
export const findAccessibleBatches = (
  access: ItemAccess,
  parameters: ParamsOf<typeof batchParams>,
): Statement<RowOf<typeof batchColumns>> => asSearch(findBatchesWithAccess(access, parameters), 'batch or limit')

/** Number of items in the work queues of all workspaces, by status. */
export const countAllItems = statement(
  'queues.countAllItems',
  `select status, sum(items)::bigint as items
   from queues as queue join queue_counts as kept on kept.workspace_id = queue.workspace_id and kept.queue_id = queue.id and kept.batch = ''
   where queue.deleted_at is null
   group by status order by status`,
  { params: {}, columns: { status: text.notNull, items: bigint.notNull } },
)
