import type { Scope } from '#shared/access/scope.ts'
import { problem } from '#shared/kernel/errors.ts'
import { changeTable } from '#shared/types/change-table.ts'
import { deleteFieldRow } from '#shared/types/field-store.ts'
import { requireCustomField } from '#shared/types/require-field.ts'
import { dropColumns, schemaOf } from '#shared/types/tables.ts'
import { lockType } from '#shared/types/type-store.ts'

/** Deletes a custom field and its values in every record, however many: a change of the catalogue alone. Throws NOT_FOUND. */
export async function deleteField(scope: Scope, fieldId: string): Promise<void> {
  const field = await requireCustomField(scope, fieldId)
  const workspaceId = scope.workspace.id
  await changeTable(scope, async (tx) => {
    await tx.query(lockType(workspaceId, field.entityType))
    const deleted = await tx.query(deleteFieldRow(workspaceId, field.id))
    if (deleted.length === 0) throw problem('NOT_FOUND')
    await dropColumns(tx, schemaOf(workspaceId), field.entityType, field)
  })
}
