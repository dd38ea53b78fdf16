import { instantOf } from '#shared/kernel/instant.ts'
import { schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import { cutoffsOf } from '#shared/queues/item.ts'
import { nameOf, type Queue, type QueueSummary, queueName, queueSummary } from '#shared/queues/queue.ts'
import { countOverdue, findBatches, findCounts } from '#shared/queues/store/counts.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'

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

/** The counts of queues, of all their items or those of one batch; `overdue` is told from the clock. Two statements, however many queues. */
export async function summariesOf(scope: Scope, queues: readonly Queue[], batch?: string): Promise<Map<string, QueueSummary>> {
  const { workspace, now } = scope
  const ids = queues.map(({ id }) => id)
  const time = now()
  const timed = queues.flatMap((queue) => {
    const { keys, times } = cutoffsOf(queue, time)
    return keys.map((key, index) => ({ id: queue.id, key, time: times[index] }))
  })
  const counts = await readRows<CountRow>(scope, findCounts(workspace.id, ids, batch ?? ''))
  const overdue = await readRows<{ queue_id: string; items: number }>(
    scope,
    countOverdue(
      ...[workspace.id, ids, instantOf(time), timed.map(({ id }) => id), timed.map(({ key }) => key)],
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
export async function summarize(
  scope: Scope,
  queue: Queue,
  batch?: string,
): Promise<{ queue: ReturnType<typeof nameOf>; summary: QueueSummary }> {
  const summary = (await summariesOf(scope, [queue], batch)).get(queue.id)
  return { queue: nameOf(queue), summary: summary ?? summaryOf(queue, [], 0) }
}

/** The batches that a queue's items have, in the order of their labels. */
export async function listBatches(scope: Scope, { id }: Queue): Promise<BatchCounts[]> {
  const rows = await readRows<BatchCounts>(scope, findBatches(scope.workspace.id, id))
  return rows.map(({ batch, total, open, closed }) => ({ batch, total, open, closed }))
}
