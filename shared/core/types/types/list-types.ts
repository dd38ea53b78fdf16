import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { pageDefinitions } from '#shared/core/types/definition-page.ts'
import { type TypeView, toTypeView } from '#shared/core/types/types/schemas.ts'
import { findTypes } from '#shared/core/types/types/store.ts'
import type { LinkedPage, LinkedQuery } from '#shared/platform/db/lists.ts'

/**
 * Lists the record types that the caller may read, with their exact record counts: built-in types first, then in creation order. Throws
 * VALIDATION_ERROR like `pageDefinitions`.
 */
export async function listTypes(scope: Scope, query: LinkedQuery): Promise<LinkedPage<TypeView>> {
  const { db, workspace } = scope
  const types = await db.query(findTypes({ workspaceId: workspace.id }))
  const visible = types.filter(({ key }) => permits(scope, 'types:read', key)).map(toTypeView)
  return pageDefinitions(scope, visible, query)
}

/** Returns one record type without a permission check; undefined when it does not exist. */
export async function findTypeView({ db, workspace }: Scope, key: string): Promise<TypeView | undefined> {
  const types = await db.query(findTypes({ workspaceId: workspace.id }))
  const found = types.find((type) => type.key === key)
  return found && toTypeView(found)
}
