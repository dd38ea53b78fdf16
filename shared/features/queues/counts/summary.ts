import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { countAccessible, countOverdue, findAccessibleBatches, findBatches, findCounts } from '#shared/features/queues/counts/store.ts'
import { type Queue, type QueueSummary, queueName, queueNameOf, queueSummary } from '#shared/features/queues/definitions/schemas.ts'
import { readQueueAccess, withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { overdueCutoffs } from '#shared/features/queues/items/schemas.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** A queue's counts (document 2, GET summary). */
export const summaryAnswer = schema(t.Object({ queue: queueName, summary: queueSummary }, { title: 'QueueReport' }))

const batchCounts = t.Object({ batch: t.String(), total: t.Integer(), open: t.Integer(), closed: t.Integer() }, { title: 'QueueBatch' })
export const batchList = schema(t.Array(batchCounts))
export type BatchCounts = TypeOf<typeof batchList>[number]

interface CountRow {
  readonly queue_id: string
  readonly stage: string
  readonly status: string
  readonly unexpected: boolean
  readonly items: number
}

/** The counts of some queues by stage, status and source, of a batch or of all: the kept ones, or those of the items in a sight. */
export const readCounts = (scope: Scope, sight: ItemAccess | undefined, queueIds: readonly string[], batch = ''): Promise<CountRow[]> => {
  const of = [scope.workspace.id, queueIds, batch] as const
  return readRows<CountRow>(scope, sight ? countAccessible(sight, ...of) : findCounts(...of))
}

/**
 * The counts of queues, of all items that the caller sees or those of one batch; `overdue` is told from the clock. Two statements, however
 * many queues, and two for those of which the caller does not see every item.
 */
export async function readSummaries(scope: Scope, queues: readonly Queue[], batch?: string): Promise<Map<string, QueueSummary>> {
  if (!queues.some(({ settings }) => settings.items_follow_records)) return summariesIn(scope, undefined, queues, batch)
  const { unrestricted, limited, itemAccess } = await readQueueAccess(scope, queues)
  const ofWhole = unrestricted.length === 0 ? [] : await summariesIn(scope, undefined, unrestricted, batch)
  return new Map([...ofWhole, ...(limited.length === 0 ? [] : await summariesIn(scope, itemAccess, limited, batch))])
}

async function summariesIn(
  scope: Scope,
  sight: ItemAccess | undefined,
  queues: readonly Queue[],
  batch?: string,
): Promise<Map<string, QueueSummary>> {
  const { workspace, now } = scope
  const ids = queues.map(({ id }) => id)
  const time = now()
  const timed = queues.flatMap((queue) => {
    const { keys, times } = overdueCutoffs(queue, time)
    return keys.map((key, index) => ({ id: queue.id, key, time: times[index] }))
  })
  const counts = await readCounts(scope, sight, ids, batch)
  const overdue = await readRows<{ queue_id: string; items: number }>(
    scope,
    countOverdue(
      sight,
      ...[workspace.id, ids, toInstant(time), timed.map(({ id }) => id), timed.map(({ key }) => key)],
      ...[timed.map((one) => one.time), batch || null],
    ),
  )
  const late = new Map(overdue.map(({ queue_id, items }) => [queue_id, items]))
  const byQueue = Map.groupBy(counts, ({ queue_id }) => queue_id)
  return new Map(queues.map((queue) => [queue.id, summaryOf(queue, byQueue.get(queue.id) ?? [], late.get(queue.id) ?? 0)]))
}

function summaryOf({ stages }: Queue, rows: readonly CountRow[], overdue: number): QueueSummary {
  const sum = (those: (row: CountRow) => boolean) => rows.reduce((total, row) => total + (those(row) ? row.items : 0), 0)
  // Closed items may stand in stages that the queue has no more.
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

/** The counts of one queue with its name. */
export async function readSummary(
  scope: Scope,
  queue: Queue,
  batch?: string,
): Promise<{ queue: ReturnType<typeof queueNameOf>; summary: QueueSummary }> {
  const summary = (await readSummaries(scope, [queue], batch)).get(queue.id)
  return { queue: queueNameOf(queue), summary: summary ?? summaryOf(queue, [], 0) }
}

/** The counts of one queue with the items that are hidden from the caller. */
export const readFullSummary = async (scope: Scope, queue: Queue): Promise<QueueSummary> =>
  (await summariesIn(scope, undefined, [queue])).get(queue.id) ?? summaryOf(queue, [], 0)

/** The batches of the items that the caller sees, in the order of their labels. */
export async function listBatches(scope: Scope, queue: Queue): Promise<BatchCounts[]> {
  const of = [scope.workspace.id, queue.id] as const
  const rows = await withItemAccess(scope, queue, (sight) =>
    readRows<BatchCounts>(scope, sight ? findAccessibleBatches(sight, ...of) : findBatches(...of)),
  )
  return rows.map(({ batch, total, open, closed }) => ({ batch, total, open, closed }))
}
