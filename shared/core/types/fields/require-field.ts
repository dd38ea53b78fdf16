import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findField } from '#shared/core/types/fields/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

type Reader = Pick<Scope, 'db' | 'workspace'>

/** The field of an id that a caller names; throws NOT_FOUND, also when the text is no id. */
export async function requireField({ db, workspace }: Reader, fieldId: string): Promise<Field> {
  const field = isUuid(fieldId) ? await findField(db, workspace.id, fieldId) : undefined
  if (!field) throw problem('NOT_FOUND')
  return field
}

/** The same for a field that is to be changed or deleted; throws NOT_FOUND for a built-in one. */
export async function requireCustomField(scope: Reader, fieldId: string): Promise<Field> {
  const field = await requireField(scope, fieldId)
  refuseBuiltIn(field)
  return field
}

/** Built-in fields cannot be changed or deleted, and answer NOT_FOUND (document 1, Fields, rule 2). */
export function refuseBuiltIn({ system }: Field): void {
  if (system) throw problem('NOT_FOUND', 'Built-in fields cannot be changed or deleted')
}
