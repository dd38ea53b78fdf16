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
  selectItems,
  selectOpenThenClosed,
} from '#shared/features/queues/items/list-store.ts'
import { type ItemPage, type ItemsQuery, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'

/** A page of a queue's matching items, newest first, with the exact total. */
export const listItems = (scope: Scope, queue: Queue, query: ItemsQuery): Promise<ItemPage> =>
  listPage(scope, queue, query, selectItemsBy(itemOrders.newest))

/** A page of a stage's items in the order of the board: open items in claim order, then closed items, last closed first. */
export function listStageItems(scope: Scope, queue: Queue, stage: Stage, query: Omit<ItemsQuery, 'stage'>): Promise<ItemPage> {
  const ofOneStatus = query.status === 'open' ? itemOrders.claim : itemOrders.ended
  const select = query.status === undefined ? selectOpenThenClosed : selectItemsBy(ofOneStatus)
  return listPage(scope, queue, { ...query, stage: stage.key }, select)
}

type SelectPage = typeof selectOpenThenClosed

const selectItemsBy =
  (order: string): SelectPage =>
  (filter, limit, offset) =>
    selectItems(filter, order, limit, offset)

const listPage = (scope: Scope, queue: Queue, query: ItemsQuery, select: SelectPage): Promise<ItemPage> =>
  withItemAccess(scope, queue, async (itemAccess) => {
    const { limit, offset } = query
    const filter = await readItemFilter(scope, queue, query, itemAccess)
    const statement = select(filter, limit + 1, offset)
    const rows = await readWholeList(createReader(scope), statement, `limit must be less than ${limit} here`)
    const items = rows.slice(0, limit).map((row) => viewOfItem(queue, row, filter.now))
    // The last page tells the total by its end, so nothing is counted. An empty page after the first does not tell it.
    const total = rows.length <= limit && (rows.length > 0 || offset === 0) ? offset + rows.length : await countOf(scope, query, filter)
    return { items, total, next_offset: rows.length > limit ? offset + limit : null }
  })

/** The filter of a query under the caller's item access. Rare text in `q` is resolved to the items that contain it. */
export async function readItemFilter(
  scope: Scope,
  queue: Queue,
  query: Omit<ItemsQuery, 'limit' | 'offset'>,
  itemAccess: ItemAccess | undefined,
): Promise<ItemFilter> {
  const filter = { ...query, workspaceId: scope.workspace.id, queue, now: scope.now(), access: itemAccess }
  if (!query.q) return filter
  const [found] = await readRows(scope, findTextMatches(scope.workspace.id, queue.id, query.q))
  return found && hasFewMatches(found) ? { ...filter, textMatches: found } : filter
}

/** Reads the total from the stored counts where they cover the query, else counts the matching items. */
async function countOf(scope: Scope, query: ItemsQuery, filter: ItemFilter): Promise<number> {
  const isStored = [query.key, query.q, query.overdue, query.assignee_id, query.record_id].every(
    (one) => one === undefined || one === false,
  )
  if (!isStored || query.batch === '' || filter.access) return (await readRows(scope, countItems(filter)))[0]?.items ?? 0
  const parameters = { workspaceId: scope.workspace.id, queueIds: [filter.queue.id], batch: query.batch ?? '' }
  const rows = await readRows(scope, findCounts(parameters))
  const isCounted = (row: { stage: string; status: string }) =>
    (query.stage === undefined || row.stage === query.stage) && (query.status === undefined || row.status === query.status)
  return rows.reduce((total, row) => total + (isCounted(row) ? row.items : 0), 0)
}
