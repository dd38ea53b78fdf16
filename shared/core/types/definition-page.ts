import type { Executor } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, requireFittingItems, takeFittingItems } from '#shared/platform/db/lists.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'

/** The properties common to record types and fields. */
interface Definition {
  readonly key: string
  readonly created_at: string
  readonly system: boolean
}

/**
 * Returns one page of definitions held in memory, or all of them without `limit`. A definition deleted between two pages does not cause
 * another to be skipped. Throws VALIDATION_ERROR for a damaged cursor, and for a list above 10 MB without `limit`; the message then names
 * `limit`.
 */
export async function pageDefinitions<Item extends Definition>(
  db: Pick<Executor, 'workspaceId'>,
  list: string,
  definitions: readonly Item[],
  { limit, cursor }: LinkedQuery,
): Promise<LinkedPage<Item>> {
  const rest = cursor === undefined ? [...definitions] : definitions.slice(startIndexOf(definitions, readCursor(list, cursor)))
  if (limit === undefined) return { items: await requireFittingItems(db, rest, 'ask for pages by limit, 1 to 200'), next: null }
  const page = await takeFittingItems(db, rest.slice(0, limit))
  const last = page.at(-1)
  return { items: page, next: last && page.length < rest.length ? makeCursor(list, `${last.created_at} ${last.key}`) : null }
}

/**
 * The index after the cursor's definition. If that was deleted, it was a custom definition, and the index is that of the first custom
 * definition that is not older.
 */
function startIndexOf(definitions: readonly Definition[], position: string): number {
  const [createdAt = '', lastKey] = position.split(' ')
  const index = definitions.findIndex(({ key }) => key === lastKey)
  if (index >= 0) return index + 1
  const next = definitions.findIndex(({ system, created_at }) => !system && created_at >= createdAt)
  return next >= 0 ? next : definitions.length
}
