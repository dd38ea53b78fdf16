import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceFieldChange } from '#shared/core/types/events.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { requireRefType } from '#shared/core/types/fields/create-field.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { refuseBuiltIn, requireField } from '#shared/core/types/fields/require-field.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { updateFieldDescription, updateRefType } from '#shared/core/types/fields/store.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/** Sets a custom field's description; empty text clears it. Throws NOT_FOUND. */
export async function describeField(scope: Scope, field: Field, description: string): Promise<FieldView> {
  refuseBuiltIn(field)
  return updateAndView(scope, field, updateFieldDescription({ workspaceId: scope.workspace.id, id: field.id, description }))
}

/**
 * Sets the target type of a custom `ref` or `refs` field; stored ids are unchanged (docs/contract/types-and-fields.md#reference-types).
 * Throws NOT_FOUND.
 */
export async function changeRefType(scope: Scope, field: Field, refType: string): Promise<FieldView> {
  refuseBuiltIn(field)
  const { id, type, key } = field
  if (!fieldKinds[type].ruleKeys.includes('ref_type'))
    throw problem('VALIDATION_ERROR', `ref_type is for ref and refs fields; ${key} is a ${type} field`)
  await requireRefType(scope, refType, 'ref_type')
  return updateAndView(scope, field, updateRefType({ workspaceId: scope.workspace.id, id, refType }))
}

/** Runs a statement that changes a field and returns a row, then reads the field. Throws NOT_FOUND when it returned no row. */
const updateAndView = (scope: Scope, field: Field, statement: Statement<{ type_id: string; differs: boolean }>): Promise<FieldView> =>
  scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const { type_id, differs } = requireRow(await tx.query(statement))
    if (differs) await announceFieldChange(inside, { id: type_id, key: field.entityType }, field)
    return toFieldView(await requireField(inside, field.id))
  })
