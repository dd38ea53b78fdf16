import { problem } from '#shared/kernel/errors.ts'
import { type ItemRow, type ItemView, viewOfItem } from '#shared/queues/item.ts'
import { itemIdOf } from '#shared/queues/load.ts'
import type { Queue } from '#shared/queues/queue.ts'
import { findItemById, findItems, findOpenByKey } from '#shared/queues/store/find.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'

/** One item's row; undefined when there is none. */
export async function findItem(scope: Scope, queue: Queue, itemId: string): Promise<ItemRow | undefined> {
  return (await readRows<ItemRow>(scope, findItemById(scope.workspace.id, queue.id, itemId)))[0]
}

/** The oldest open item of a key; undefined when the key is not open. */
export async function findByKey({ db, workspace }: Scope, queue: Queue, key: string): Promise<ItemRow | undefined> {
  return (await db.query<ItemRow>(findOpenByKey(workspace.id, queue.id, key)))[0]
}

/** Items by their ids, as callers see them; those that are not there are left out. */
export async function itemsByIds({ db, workspace, now }: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, ItemView>> {
  const rows = await db.query<ItemRow>(findItems(workspace.id, queue.id, ids))
  return new Map(rows.map((row) => [row.id, viewOfItem(queue, row, now())]))
}

/** An item as a caller sees it; throws NOT_FOUND, and VALIDATION_ERROR for an id that is none. */
export async function getItem(scope: Scope, queue: Queue, itemId: string): Promise<ItemView> {
  const row = await findItem(scope, queue, itemIdOf(itemId))
  if (!row) throw problem('NOT_FOUND')
  return viewOfItem(queue, row, scope.now())
}
