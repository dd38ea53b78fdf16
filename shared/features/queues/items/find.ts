import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { requireItemId } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { type ItemRow, type ItemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { findAccessibleByKey, findItemById, findItems, findOpenByKey } from '#shared/features/queues/items/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** One item's row; undefined when there is none that the caller sees. */
export const findItem = (scope: Scope, queue: Queue, itemId: string): Promise<ItemRow | undefined> =>
  withItemAccess(scope, queue, (sight) => findOne(scope, queue, itemId, sight))

/** The same, also of an item that is hidden from the caller. */
export const findAnyItem = (scope: Scope, queue: Queue, itemId: string): Promise<ItemRow | undefined> =>
  findOne(scope, queue, itemId, undefined)

async function findOne(scope: Scope, queue: Queue, itemId: string, sight: ItemAccess | undefined): Promise<ItemRow | undefined> {
  return (await readRows<ItemRow>(scope, findItemById(sight, scope.workspace.id, queue.id, itemId)))[0]
}

/** The oldest open item of a key that the caller sees; `hidden` when only hidden ones are open, undefined when the key is not open. */
export const findOpenItem = (scope: Scope, queue: Queue, key: string): Promise<ItemRow | 'hidden' | undefined> =>
  withItemAccess(scope, queue, async (sight) => {
    const { db, workspace } = scope
    if (!sight) return (await db.query<ItemRow>(findOpenByKey(workspace.id, queue.id, key)))[0]
    const [found] = await db.query<ItemRow & { is_seen: boolean }>(findAccessibleByKey(sight, workspace.id, queue.id, key))
    return found && !found.is_seen ? 'hidden' : found
  })

/** Items by their ids; those that are not there, or hidden from the caller, are left out. */
export const findItemViews = (scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, ItemView>> =>
  withItemAccess(scope, queue, (sight) => viewsByIds(scope, queue, ids, sight))

/** The same with hidden items. */
export const findAnyItemViews = (scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, ItemView>> =>
  viewsByIds(scope, queue, ids, undefined)

async function viewsByIds(
  { db, workspace, now }: Scope,
  queue: Queue,
  ids: readonly string[],
  sight: ItemAccess | undefined,
): Promise<Map<string, ItemView>> {
  const rows = await db.query<ItemRow>(findItems(sight, workspace.id, queue.id, ids))
  return new Map(rows.map((row) => [row.id, viewOfItem(queue, row, now())]))
}

/** An item as a caller sees it; throws NOT_FOUND, and VALIDATION_ERROR for an id that is none. */
export async function getItem(scope: Scope, queue: Queue, itemId: string): Promise<ItemView> {
  const row = await findItem(scope, queue, requireItemId(itemId))
  if (!row) throw problem('NOT_FOUND')
  return viewOfItem(queue, row, scope.now())
}
