import { createReader, readRows, type Scope } from '#shared/core/scope/scope.ts'
import { findCounts } from '#shared/features/queues/counts/store.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import {
  countItems,
  findTextMatches,
  hasFewMatches,
  type ItemFilter,
  itemOrders,
  selectItems as listStatement,
} from '#shared/features/queues/items/list-store.ts'
import { type ItemRow, type ItemView, itemStatuses, itemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const paging = {
  limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
  offset: t.Integer({ minimum: 0, default: 0 }),
}

const filters = {
  status: t.Optional(t.Enum([...itemStatuses])),
  batch: t.Optional(t.String()),
  key: t.Optional(t.String()),
  q: t.Optional(t.String({ maxLength: 500, description: 'Text contained in key or batch.' })),
  overdue: t.Optional(t.Boolean({ description: 'True for overdue ones only.' })),
  assignee_id: t.Optional(t.String()),
  record_id: t.Optional(t.String({ format: 'uuid' })),
}

/** The parameters of a stage's items, and with `stage` of a queue's (document 2, GET items parameters). */
export const stageItemsQuery = schema(t.Object({ ...filters, ...paging }))
export const itemsQuery = schema(t.Object({ stage: t.Optional(t.String()), ...filters, ...paging }))
export type ItemsQuery = TypeOf<typeof itemsQuery>

export const itemPage = schema(
  t.Object(
    {
      items: t.Array(itemView.json),
      total: t.Integer(),
      next_offset: nullable(t.Integer({ description: 'Where the next page starts; null on the last.' })),
    },
    { title: 'QueueItemPage' },
  ),
)
export interface ItemPage {
  readonly items: ItemView[]
  readonly total: number
  readonly next_offset: number | null
}

/** A page of a queue's items that match, newest first, with the exact number of all. */
export const listItems = (scope: Scope, queue: Queue, query: ItemsQuery): Promise<ItemPage> => page(scope, queue, query, itemOrders.newest)

/**
 * A page of a stage's items as its board shows them: the open ones as they would be claimed, of a terminal stage the closed ones, newest
 * first; with a status those that have it.
 */
export function listStageItems(scope: Scope, queue: Queue, stage: Stage, query: Omit<ItemsQuery, 'stage'>): Promise<ItemPage> {
  const isOpen = query.status === undefined ? stage.kind !== 'terminal' : query.status === 'open'
  const status = query.status ?? (isOpen ? 'open' : 'closed')
  return page(scope, queue, { ...query, stage: stage.key, status }, isOpen ? itemOrders.claim : itemOrders.ended)
}

type Asked = Omit<ItemsQuery, 'status'> & { readonly status?: ItemsQuery['status'] | 'closed' }

const page = (scope: Scope, queue: Queue, query: Asked, order: string): Promise<ItemPage> =>
  withItemAccess(scope, queue, async (sight) => pageOf(scope, query, await readItemFilter(scope, queue, query, sight), order))

async function pageOf(scope: Scope, query: Asked, filter: ItemFilter, order: string): Promise<ItemPage> {
  const { limit, offset } = query
  const { queue } = filter
  const statement = listStatement(filter, order, limit + 1, offset)
  const rows = await readWholeList<ItemRow>(createReader(scope), statement, `limit must be less than ${limit} here`)
  const items = rows.slice(0, limit).map((row) => viewOfItem(queue, row, filter.now))
  // A page that is not full and not past the end tells the number by itself.
  const total = rows.length <= limit && (rows.length > 0 || offset === 0) ? offset + rows.length : await countOf(scope, query, filter)
  return { items, total, next_offset: rows.length > limit ? offset + limit : null }
}

/** What a query means for a caller with this sight; text that few items hold has been found by then. */
export async function readItemFilter(
  scope: Scope,
  queue: Queue,
  query: Omit<Asked, 'limit' | 'offset'>,
  sight: ItemAccess | undefined,
): Promise<ItemFilter> {
  const filter = { ...query, workspaceId: scope.workspace.id, queue, now: scope.now(), sight }
  if (!query.q) return filter
  const [found] = await readRows<{ items: string[] | null; batches: string[] }>(
    scope,
    findTextMatches(scope.workspace.id, queue.id, query.q),
  )
  return found && hasFewMatches(found) ? { ...filter, textMatches: found } : filter
}

/** From the kept counts where those tell what is asked for, else by counting what matches. */
async function countOf(scope: Scope, query: Asked, filter: ItemFilter): Promise<number> {
  const isKept = [query.key, query.q, query.overdue, query.assignee_id, query.record_id].every((one) => one === undefined || one === false)
  if (!isKept || query.batch === '' || filter.access) return (await readRows<{ items: number }>(scope, countItems(filter)))[0]?.items ?? 0
  const rows = await readRows<{ stage: string; status: string; items: number }>(
    scope,
    findCounts(scope.workspace.id, [filter.queue.id], query.batch ?? ''),
  )
  const isMeant = (row: { stage: string; status: string }) =>
    (query.stage === undefined || row.stage === query.stage) &&
    (query.status === undefined || (query.status === 'closed' ? row.status !== 'open' : row.status === query.status))
  return rows.reduce((total, row) => total + (isMeant(row) ? row.items : 0), 0)
}
