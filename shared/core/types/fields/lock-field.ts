import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type RecordType, readRecordType } from '#shared/core/types/record-type.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** A field and its type, read under the type's lock. */
export interface LockedField {
  readonly type: RecordType
  readonly field: Field
}

/** Locks a field's type until the transaction ends and reads both, bypassing the cache. Throws NOT_FOUND when the field was deleted. */
export async function lockField(tx: Tx, { workspace }: Pick<Scope, 'workspace'>, { id, entityType }: Field): Promise<LockedField> {
  await tx.query(lockType(workspace.id, entityType))
  const type = await readRecordType(tx, workspace.id, entityType)
  const field = type?.fields.find((other) => other.id === id)
  if (!type || !field) throw problem('NOT_FOUND')
  return { type, field }
}
