import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceFieldChange } from '#shared/core/types/events.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { lockField, refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { deleteFieldRow } from '#shared/core/types/fields/store.ts'
import { requireLimitsStay } from '#shared/core/types/fields/tested-fields.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { dropColumns } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/**
 * Deletes a custom field and its values in every record. Changes only the catalogue, so the cost does not depend on the number of records.
 * Throws NOT_FOUND, VALIDATION_ERROR while a formula reads the field, and FORBIDDEN when a rule that limits the caller tests it.
 */
export async function deleteField(scope: Scope, field: Field): Promise<void> {
  refuseBuiltIn(field)
  const workspaceId = scope.workspace.id
  await changeTable(scope, async (tx) => {
    const { type } = await lockField(tx, scope, field)
    requireLimitsStay(scope, type, field)
    refuseWhileRead(type, field)
    requireRow(await tx.query(deleteFieldRow({ workspaceId, id: field.id })))
    await dropColumns(tx, schemaOf(workspaceId), field.entityType, field)
    await announceFieldChange(within(scope, tx), type, field)
  })
}

/** Throws VALIDATION_ERROR while another field's formula reads this one (docs/contract/types-and-fields.md#fields). */
function refuseWhileRead({ fields }: RecordType, { key }: Field): void {
  const reader = fields.find(({ reads }) => reads?.includes(key))
  if (reader) throw problem('VALIDATION_ERROR', `${key} is read by the formula of ${reader.key}; remove that formula first`)
}
