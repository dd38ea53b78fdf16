import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { deleteFieldRow } from '#shared/core/types/fields/store.ts'
import { readRecordType } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { dropColumns } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/**
 * Deletes a custom field and its values in every record. Changes only the catalogue, so the cost does not depend on the number of records.
 * Throws NOT_FOUND, and VALIDATION_ERROR while a formula reads the field.
 */
export async function deleteField(scope: Scope, field: Field): Promise<void> {
  refuseBuiltIn(field)
  const workspaceId = scope.workspace.id
  await changeTable(scope, async (tx) => {
    await tx.query(lockType({ workspaceId, key: field.entityType }))
    await refuseWhileRead(tx, workspaceId, field)
    requireRow(await tx.query(deleteFieldRow({ workspaceId, id: field.id })))
    await dropColumns(tx, schemaOf(workspaceId), field.entityType, field)
  })
}

/** Throws VALIDATION_ERROR while another field's formula reads this one (document 1, Field rules, 2). The caller holds the type's lock. */
async function refuseWhileRead(tx: Tx, workspaceId: string, { entityType, key }: Field): Promise<void> {
  const type = await readRecordType(tx, workspaceId, entityType)
  const reader = type?.fields.find(({ reads }) => reads?.includes(key))
  if (reader) throw problem('VALIDATION_ERROR', `${key} is read by the formula of ${reader.key}; remove that formula first`)
}
