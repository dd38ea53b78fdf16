import type { Executor } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, requireFittingItems, takeFittingItems } from '#shared/platform/db/lists.ts'
import { type CursorScope, makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** The properties common to record types and fields. */
interface Definition {
  readonly key: string
  readonly created_at: string
  readonly system: boolean
}

/** The instant of creation and the key of a definition. */
const definitionPosition = schema(t.Object({ created_at: t.String(), key: t.String() }))

/**
 * Returns one page of definitions held in memory, or all of them without `limit`. A definition deleted between two pages does not cause
 * another to be skipped. Throws VALIDATION_ERROR for a damaged cursor, and for a list above 10 MB without `limit`; the message then names
 * `limit`.
 */
export async function pageDefinitions<Item extends Definition>(
  scope: CursorScope & { readonly db: Pick<Executor, 'owner'> },
  definitions: readonly Item[],
  { limit, cursor }: LinkedQuery,
): Promise<LinkedPage<Item>> {
  const rest =
    cursor === undefined ? [...definitions] : definitions.slice(startIndexOf(definitions, readCursor(scope, cursor, definitionPosition)))
  if (limit === undefined) return { items: await requireFittingItems(scope.db, rest, 'ask for pages by limit, 1 to 200'), next: null }
  const page = await takeFittingItems(scope.db, rest.slice(0, limit))
  const last = page.at(-1)
  return { items: page, next: last && page.length < rest.length ? makeCursor(scope, { created_at: last.created_at, key: last.key }) : null }
}

/**
 * The index after the cursor's definition. If that was deleted, it was a custom definition, and the index is that of the first custom
 * definition that is not older.
 */
function startIndexOf(definitions: readonly Definition[], last: TypeOf<typeof definitionPosition>): number {
  const index = definitions.findIndex(({ key }) => key === last.key)
  if (index >= 0) return index + 1
  const next = definitions.findIndex(({ system, created_at }) => !system && created_at >= last.created_at)
  return next >= 0 ? next : definitions.length
}
