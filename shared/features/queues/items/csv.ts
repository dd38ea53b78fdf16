import { Readable } from 'node:stream'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { readItemFilter } from '#shared/features/queues/items/list.ts'
import { type ItemFilter, itemOrders, selectItems } from '#shared/features/queues/items/list-store.ts'
import { type ItemsQuery, type ItemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'

/** Items per file, as many as in an export of records (docs/contract/queues.md#listing-items). */
const maxExported = 10_000

/** Items read per statement; bounds memory. */
const batchSize = 500

const columns = [
  ...['id', 'key', 'stage', 'status', 'priority', 'source', 'batch', 'record_id', 'assignee_id', 'due_at', 'overdue', 'attempts'],
  ...['claimed_by', 'claim_expires_at', 'entered_stage_at', 'created_at', 'payload'],
] as const satisfies readonly (keyof ItemView)[]

/** Matching items as CSV, newest first, at most 10,000; `truncated` tells whether there are more. The file can be imported into a queue. */
export async function itemsAsCsv(
  scope: Scope,
  queue: Queue,
  query: Omit<ItemsQuery, 'limit' | 'offset'>,
): Promise<{ readonly truncated: boolean; readonly stream: () => Readable }> {
  return withItemAccess(scope, queue, async (itemAccess) => {
    const filter = await readItemFilter(scope, queue, query, itemAccess)
    const beyond = await scope.db.query(selectItems(filter, itemOrders.newest, 1, maxExported))
    return { truncated: beyond.length > 0, stream: () => Readable.from(renderRows(scope, queue, filter)) }
  })
}

async function* renderRows(scope: Scope, queue: Queue, filter: ItemFilter): AsyncGenerator<Buffer> {
  yield Buffer.from(writeCsv([columns]))
  let beforeId: string | undefined
  for (let remaining = maxExported; remaining > 0; ) {
    const items = await scope.db.query(selectItems({ ...filter, beforeId }, itemOrders.newest, Math.min(batchSize, remaining), 0))
    if (items.length === 0) return
    yield Buffer.from(writeCsv(items.map((row) => cellsOf(viewOfItem(queue, row, filter.now)))))
    remaining -= items.length
    beforeId = items.at(-1)?.id
  }
}

const cellsOf = (item: ItemView): string[] =>
  columns.map((column) => {
    const value = item[column]
    return typeof value === 'object' ? (value === null ? '' : JSON.stringify(value)) : String(value)
  })
