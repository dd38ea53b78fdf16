import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findField } from '#shared/core/types/fields/store.ts'
import { type RecordType, readRecordType } from '#shared/core/types/record-type.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
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

/** Throws NOT_FOUND for a built-in field, which cannot be changed or deleted (docs/contract/types-and-fields.md#fields). */
export function refuseBuiltIn({ system }: Field): void {
  if (system) throw problem('NOT_FOUND', 'Built-in fields cannot be changed or deleted')
}

/** A field and its type, read under the type's lock. */
export interface LockedField {
  readonly type: RecordType
  readonly field: Field
}

/** Locks a field's type until the transaction ends and reads both, bypassing the cache. Throws NOT_FOUND when the field was deleted. */
export async function lockField(tx: Tx, { workspace }: Pick<Scope, 'workspace'>, { id, entityType }: Field): Promise<LockedField> {
  await tx.query(lockType({ workspaceId: workspace.id, key: entityType }))
  const type = await readRecordType(tx, workspace.id, entityType)
  const field = type?.fields.find((other) => other.id === id)
  if (!type || !field) throw problem('NOT_FOUND')
  return { type, field }
}
