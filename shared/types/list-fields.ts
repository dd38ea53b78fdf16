import type { LinkedPage, LinkedQuery } from '#shared/db/lists.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { type FieldView, viewField } from '#shared/types/field-view.ts'
import { pageOfDefinitions } from '#shared/types/page.ts'
import { requireRecordType } from '#shared/types/record-type.ts'

/** The fields of a record type in the order of their creation. Throws NOT_FOUND, and VALIDATION_ERROR like `pageOfDefinitions`. */
export async function listFields(
  scope: Scope,
  { entity_type, ...query }: LinkedQuery & { readonly entity_type: string },
): Promise<LinkedPage<FieldView>> {
  const { id, fields } = await requireRecordType(scope, entity_type)
  return pageOfDefinitions(`fields ${id}`, fields.map(viewField), query)
}
