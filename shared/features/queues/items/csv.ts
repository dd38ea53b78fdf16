import { Readable } from 'node:stream'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type ItemsQuery, readItemFilter } from '#shared/features/queues/items/list.ts'
import { type ItemFilter, itemOrders, selectItems } from '#shared/features/queues/items/list-store.ts'
import { type ItemRow, type ItemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'

/** Items in one file, as many as records in an export (document 1, Export). */
const maxExported = 10_000

/** Items that are in memory at once. */
const step = 500

const columns = [
  ...['id', 'key', 'stage', 'status', 'priority', 'source', 'batch', 'record_id', 'assignee_id', 'due_at', 'overdue', 'attempts'],
  ...['claimed_by', 'claim_expires_at', 'entered_stage_at', 'created_at', 'payload'],
] as const satisfies readonly (keyof ItemView)[]

/** The items that match as CSV, newest first, 10,000 at most; `truncated` says that there are more. What was read can be imported again. */
export async function itemsAsCsv(
  scope: Scope,
  queue: Queue,
  query: Omit<ItemsQuery, 'limit' | 'offset'>,
): Promise<{ readonly truncated: boolean; readonly stream: () => Readable }> {
  return withItemAccess(scope, queue, async (sight) => {
    const filter = await readItemFilter(scope, queue, query, sight)
    const beyond = await scope.db.query(selectItems(filter, itemOrders.newest, 1, maxExported))
    return { truncated: beyond.length > 0, stream: () => Readable.from(rows(scope, queue, filter)) }
  })
}

async function* rows(scope: Scope, queue: Queue, filter: ItemFilter): AsyncGenerator<Buffer> {
  yield Buffer.from(writeCsv([columns]))
  let below: string | undefined
  for (let left = maxExported; left > 0; ) {
    const items = await scope.db.query<ItemRow>(selectItems({ ...filter, beforeId: below }, itemOrders.newest, Math.min(step, left), 0))
    if (items.length === 0) return
    yield Buffer.from(writeCsv(items.map((row) => cellsOf(viewOfItem(queue, row, filter.now)))))
    left -= items.length
    below = items.at(-1)?.id
  }
}

const cellsOf = (item: ItemView): string[] =>
  columns.map((column) => {
    const value = item[column]
    return typeof value === 'object' ? (value === null ? '' : JSON.stringify(value)) : String(value)
  })
