import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { requireItemId } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { type ItemRow, type ItemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { findAccessibleByKey, findItemById, findItems, findOpenByKey } from '#shared/features/queues/items/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** One item's row; undefined when it does not exist or is hidden from the caller. */
export const findItem = (scope: Scope, queue: Queue, itemId: string): Promise<ItemRow | undefined> =>
  withItemAccess(scope, queue, (itemAccess) => findRow(scope, queue, itemId, itemAccess))

/** One item's row, even when hidden from the caller; undefined when it does not exist. */
export const findAnyItem = (scope: Scope, queue: Queue, itemId: string): Promise<ItemRow | undefined> =>
  findRow(scope, queue, itemId, undefined)

async function findRow(scope: Scope, queue: Queue, itemId: string, itemAccess: ItemAccess | undefined): Promise<ItemRow | undefined> {
  return (await readRows(scope, findItemById(itemAccess, { workspaceId: scope.workspace.id, queueId: queue.id, id: itemId })))[0]
}

/** The oldest visible open item of a key; `hidden` when all open ones are hidden from the caller, undefined when none is open. */
export const findOpenItem = (scope: Scope, queue: Queue, key: string): Promise<ItemRow | 'hidden' | undefined> =>
  withItemAccess(scope, queue, async (itemAccess) => {
    const { db, workspace } = scope
    const parameters = { workspaceId: workspace.id, queueId: queue.id, key }
    if (!itemAccess) return (await db.query(findOpenByKey(parameters)))[0]
    const [found] = await db.query(findAccessibleByKey(itemAccess, parameters))
    return found && !found.is_seen ? 'hidden' : found
  })

/** Items by id; missing and hidden items are omitted. */
export const findItemViews = (scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, ItemView>> =>
  withItemAccess(scope, queue, (itemAccess) => viewsByIds(scope, queue, ids, itemAccess))

/** Items by id, including hidden ones; missing items are omitted. */
export const findAnyItemViews = (scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, ItemView>> =>
  viewsByIds(scope, queue, ids, undefined)

async function viewsByIds(
  { db, workspace, now }: Scope,
  queue: Queue,
  ids: readonly string[],
  itemAccess: ItemAccess | undefined,
): Promise<Map<string, ItemView>> {
  const rows = await db.query(findItems(itemAccess, { workspaceId: workspace.id, queueId: queue.id, ids }))
  return new Map(rows.map((row) => [row.id, viewOfItem(queue, row, now())]))
}

/** An item visible to the caller. Throws NOT_FOUND, and VALIDATION_ERROR for a malformed id. */
export async function getItem(scope: Scope, queue: Queue, itemId: string): Promise<ItemView> {
  const row = await findItem(scope, queue, requireItemId(itemId))
  if (!row) throw problem('NOT_FOUND')
  return viewOfItem(queue, row, scope.now())
}
