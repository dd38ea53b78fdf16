import type { Scope } from '#shared/scope/scope.ts'
import { findTypes, type StoredType } from '#shared/types/type-store.ts'
import { type TypeView, viewType } from '#shared/types/type-view.ts'

/** The record types that the caller may see, with the exact number of their records: built-in ones first, then as they were made. */
export async function listTypes({ db, workspace, actor }: Scope): Promise<TypeView[]> {
  const types = await db.query<StoredType>(findTypes(workspace.id))
  return types.filter(({ key }) => actor.policy.permits('types:read', key) !== 'never').map(viewType)
}
