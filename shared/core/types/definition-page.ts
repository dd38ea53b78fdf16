import { type LinkedPage, type LinkedQuery, requireFittingItems, takeFittingItems } from '#shared/platform/db/lists.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'

/** What a record type and a field have in common. */
interface Definition {
  readonly key: string
  readonly created_at: string
  readonly system: boolean
}

/**
 * A page of a list of definitions that are in memory anyway, or all of it without `limit`. A definition that is deleted between two pages
 * leaves none out. Throws VALIDATION_ERROR for a damaged cursor, and naming `limit` above 10 MB without one.
 */
export function pageDefinitions<Item extends Definition>(
  list: string,
  definitions: readonly Item[],
  { limit, cursor }: LinkedQuery,
): LinkedPage<Item> {
  const rest = cursor === undefined ? [...definitions] : definitions.slice(startOf(definitions, readCursor(list, cursor)))
  if (limit === undefined) return { items: requireFittingItems(rest, 'ask for pages by limit, 1 to 200'), next: null }
  const page = takeFittingItems(rest.slice(0, limit))
  const last = page.at(-1)
  return { items: page, next: last && page.length < rest.length ? makeCursor(list, `${last.created_at} ${last.key}`) : null }
}

/** The place behind a definition; of one that is gone, the place of the first custom one that is not older. Built-in ones are never deleted. */
function startOf(definitions: readonly Definition[], position: string): number {
  const [at = '', after] = position.split(' ')
  const index = definitions.findIndex(({ key }) => key === after)
  if (index >= 0) return index + 1
  const next = definitions.findIndex(({ system, created_at }) => !system && created_at >= at)
  return next >= 0 ? next : definitions.length
}
