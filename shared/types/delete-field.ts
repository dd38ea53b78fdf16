import type { Tx } from '#shared/db/database.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { changeTable } from '#shared/types/change-table.ts'
import { deleteFieldRow } from '#shared/types/field-store.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { readRecordType } from '#shared/types/record-type.ts'
import { refuseBuiltIn } from '#shared/types/require-field.ts'
import { schemaOf } from '#shared/types/tables.ts'
import { dropColumns } from '#shared/types/tables-store.ts'
import { lockType } from '#shared/types/type-store.ts'

/** Deletes a custom field and its values in every record, however many: a change of the catalogue alone. Throws NOT_FOUND, and VALIDATION_ERROR while a formula reads it. */
export async function deleteField(scope: Scope, field: Field): Promise<void> {
  refuseBuiltIn(field)
  const workspaceId = scope.workspace.id
  await changeTable(scope, async (tx) => {
    await tx.query(lockType(workspaceId, field.entityType))
    await refuseWhileRead(tx, workspaceId, field)
    const deleted = await tx.query(deleteFieldRow(workspaceId, field.id))
    if (deleted.length === 0) throw problem('NOT_FOUND')
    await dropColumns(tx, schemaOf(workspaceId), field.entityType, field)
  })
}

/** Throws VALIDATION_ERROR while another field's formula reads this one (document 1, Field rules, 2). The type is locked. */
async function refuseWhileRead(tx: Tx, workspaceId: string, { entityType, key }: Field): Promise<void> {
  const type = await readRecordType(tx, workspaceId, entityType)
  const reader = type?.fields.find(({ reads }) => reads?.includes(key))
  if (reader) throw problem('VALIDATION_ERROR', `${key} is read by the formula of ${reader.key}; remove that formula first`)
}
