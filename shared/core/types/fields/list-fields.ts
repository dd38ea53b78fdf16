import type { Scope } from '#shared/core/scope/scope.ts'
import { pageDefinitions } from '#shared/core/types/definition-page.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import type { LinkedPage, LinkedQuery } from '#shared/platform/db/lists.ts'

/** Lists the fields of a record type in creation order. Throws NOT_FOUND, and VALIDATION_ERROR like `pageDefinitions`. */
export async function listFields(
  scope: Scope,
  { entity_type, ...query }: LinkedQuery & { readonly entity_type: string },
): Promise<LinkedPage<FieldView>> {
  const { fields } = await requireRecordType(scope, entity_type)
  return pageDefinitions(scope, fields.map(toFieldView), query)
}
