import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import type { BatchCounts } from '#shared/features/queues/counts/schemas.ts'
import {
  type CountRow,
  countAccessible,
  countOverdue,
  findAccessibleBatches,
  findBatches,
  findCounts,
} from '#shared/features/queues/counts/store.ts'
import { type Queue, type QueueSummary, queueNameOf } from '#shared/features/queues/definitions/schemas.ts'
import { readQueueAccess, withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { overdueCutoffs } from '#shared/features/queues/items/schemas.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Counts of queues by stage, status and source, for one batch or all. Without `itemAccess` the stored counts; with it, counts of the items
 * that it admits.
 */
export const readCounts = (
  scope: Scope,
  itemAccess: ItemAccess | undefined,
  queueIds: readonly string[],
  batch = '',
): Promise<CountRow[]> => {
  const parameters = { workspaceId: scope.workspace.id, queueIds, batch }
  return readRows(scope, itemAccess ? countAccessible(itemAccess, parameters) : findCounts(parameters))
}

/**
 * Counts of the items that the caller sees, of all batches or one; `overdue` depends on the current time. Two statements for any number of
 * queues, and two more for queues with hidden items.
 */
export async function readSummaries(scope: Scope, queues: readonly Queue[], batch?: string): Promise<Map<string, QueueSummary>> {
  if (!queues.some(({ settings }) => settings.items_follow_records)) return summarize(scope, undefined, queues, batch)
  const { unrestricted, limited, itemAccess } = await readQueueAccess(scope, queues)
  const complete = unrestricted.length === 0 ? [] : await summarize(scope, undefined, unrestricted, batch)
  return new Map([...complete, ...(limited.length === 0 ? [] : await summarize(scope, itemAccess, limited, batch))])
}

async function summarize(
  scope: Scope,
  itemAccess: ItemAccess | undefined,
  queues: readonly Queue[],
  batch?: string,
): Promise<Map<string, QueueSummary>> {
  const { workspace, now } = scope
  const ids = queues.map(({ id }) => id)
  const time = now()
  const cutoffs = queues.flatMap((queue) => {
    const { keys, times } = overdueCutoffs(queue, time)
    return keys.map((key, index) => ({ id: queue.id, key, cutoff: times[index] ?? toInstant(time) }))
  })
  const counts = await readCounts(scope, itemAccess, ids, batch)
  const overdue = await readRows(
    scope,
    countOverdue(itemAccess, {
      workspaceId: workspace.id,
      queueIds: ids,
      now: toInstant(time),
      batch: batch || null,
      limitedQueueIds: cutoffs.map(({ id }) => id),
      limitedStages: cutoffs.map(({ key }) => key),
      cutoffs: cutoffs.map(({ cutoff }) => cutoff),
    }),
  )
  const overdueCounts = new Map(overdue.map(({ queue_id, items }) => [queue_id, items]))
  const byQueue = Map.groupBy(counts, ({ queue_id }) => queue_id)
  return new Map(queues.map((queue) => [queue.id, summaryOf(queue, byQueue.get(queue.id) ?? [], overdueCounts.get(queue.id) ?? 0)]))
}

function summaryOf({ stages }: Queue, rows: readonly CountRow[], overdue: number): QueueSummary {
  const sum = (isCounted: (row: CountRow) => boolean) => rows.reduce((total, row) => total + (isCounted(row) ? row.items : 0), 0)
  // Closed items may be in stages that have been removed from the queue.
  const keys = [...new Set([...stages.map(({ key }) => key), ...rows.map(({ stage }) => stage)])]
  return {
    total: sum(() => true),
    open: sum(({ status }) => status === 'open'),
    closed: sum(({ status }) => status !== 'open'),
    overdue,
    unexpected: sum(({ unexpected }) => unexpected),
    by_stage: Object.fromEntries(keys.map((key) => [key, sum(({ stage }) => stage === key)])),
  }
}

/** Counts of one queue's visible items, with the queue's name. */
export async function readSummary(
  scope: Scope,
  queue: Queue,
  batch?: string,
): Promise<{ queue: ReturnType<typeof queueNameOf>; summary: QueueSummary }> {
  const summary = (await readSummaries(scope, [queue], batch)).get(queue.id)
  return { queue: queueNameOf(queue), summary: summary ?? summaryOf(queue, [], 0) }
}

/** Counts of one queue, including items hidden from the caller. */
export const readFullSummary = async (scope: Scope, queue: Queue): Promise<QueueSummary> =>
  (await summarize(scope, undefined, [queue])).get(queue.id) ?? summaryOf(queue, [], 0)

/** Batches of the items that the caller sees, ordered by label. */
export async function listBatches(scope: Scope, queue: Queue): Promise<BatchCounts[]> {
  const parameters = { workspaceId: scope.workspace.id, queueId: queue.id }
  const rows = await withItemAccess(scope, queue, (itemAccess) =>
    readRows(scope, itemAccess ? findAccessibleBatches(itemAccess, parameters) : findBatches(parameters)),
  )
  return rows.map(({ batch, total, open, closed }) => ({ batch, total, open, closed }))
}
