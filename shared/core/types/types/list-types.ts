import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { pageDefinitions } from '#shared/core/types/definition-page.ts'
import { type TypeView, toTypeView } from '#shared/core/types/types/schemas.ts'
import { findTypes, type StoredType } from '#shared/core/types/types/store.ts'
import type { LinkedPage, LinkedQuery } from '#shared/platform/db/lists.ts'

/**
 * The record types that the caller may see, with the exact number of their records: built-in ones first, then as they were made. Throws
 * VALIDATION_ERROR like `pageOfDefinitions`.
 */
export async function listTypes(scope: Scope, query: LinkedQuery): Promise<LinkedPage<TypeView>> {
  const { db, workspace } = scope
  const types = await db.query<StoredType>(findTypes(workspace.id))
  const visible = types.filter(({ key }) => permits(scope, 'types:read', key)).map(toTypeView)
  return pageDefinitions(`types ${workspace.id}`, visible, query)
}

/** One record type, whether or not the caller may list it; undefined when there is none. */
export async function findTypeView({ db, workspace }: Scope, key: string): Promise<TypeView | undefined> {
  const types = await db.query<StoredType>(findTypes(workspace.id))
  const found = types.find((type) => type.key === key)
  return found && toTypeView(found)
}
