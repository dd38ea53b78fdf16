import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findField } from '#shared/core/types/fields/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

type Reader = Pick<Scope, 'db' | 'workspace'>

/** Returns the field with an id. Throws NOT_FOUND, also when the text is not a UUID. */
export async function requireField({ db, workspace }: Reader, fieldId: string): Promise<Field> {
  const field = isUuid(fieldId) ? await findField(db, workspace.id, fieldId) : undefined
  if (!field) throw problem('NOT_FOUND')
  return field
}

/** Returns a field to be changed or deleted. Throws NOT_FOUND, also for a built-in field. */
export async function requireCustomField(scope: Reader, fieldId: string): Promise<Field> {
  const field = await requireField(scope, fieldId)
  refuseBuiltIn(field)
  return field
}

/** Throws NOT_FOUND for a built-in field, which cannot be changed or deleted (document 1, Fields, rule 2). */
export function refuseBuiltIn({ system }: Field): void {
  if (system) throw problem('NOT_FOUND', 'Built-in fields cannot be changed or deleted')
}
