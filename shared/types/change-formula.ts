import type { Scope } from '#shared/access/scope.ts'
import { sql } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { compileComputations } from '#shared/types/computed.ts'
import { findField } from '#shared/types/field-store.ts'
import { type FieldView, viewField } from '#shared/types/field-view.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { recomputeRecords } from '#shared/types/jobs.ts'
import { readRecordType } from '#shared/types/record-type.ts'
import { requireCustomField } from '#shared/types/require-field.ts'
import { lockType } from '#shared/types/type-store.ts'

/** What makes a field computed. */
export const formulaInput = schema(
  t.Object({ formula: t.String({ minLength: 1, description: 'In the spreadsheet formula language, over fields of the same record.' }) }),
)

const setFormula = sql(
  'set_formula',
  `update fields set rules = rules || jsonb_build_object('formula', $3::text) where workspace_id = $1 and id = $2`,
)
const dropFormula = sql('drop_formula', `update fields set rules = rules - 'formula' where workspace_id = $1 and id = $2`)

/**
 * Makes a custom field computed by a formula; a worker computes it for the records that exist (document 1, Field rules, 4). Throws
 * NOT_FOUND, and VALIDATION_ERROR for a bad formula, with its position, for a circle, and for an auto-numbered field.
 */
export async function computeField(scope: Scope, fieldId: string, formula: string): Promise<FieldView> {
  const { id, entityType } = await requireCustomField(scope, fieldId)
  const { id: workspaceId } = scope.workspace
  return scope.db.transaction(async (tx) => {
    await tx.query(lockType(workspaceId, entityType))
    const type = await readRecordType(tx, workspaceId, entityType)
    const field = type?.fieldByKey.get((await findField(tx, workspaceId, id))?.key ?? '')
    if (!type || !field) throw problem('NOT_FOUND')
    if (field.autogen !== '') throw problem('VALIDATION_ERROR', `${field.key} numbers itself; stop that before it is computed`)
    const changed: Field = { ...field, rules: { ...field.rules, formula } }
    compileComputations(type.fields.map((other) => (other.id === id ? changed : other)))
    await tx.query(setFormula(workspaceId, id, formula))
    await scope.queue.enqueue(tx, recomputeRecords, { workspaceId, cause: scope.cause }, { typeKey: entityType })
    return viewField(changed)
  })
}

/** Makes a computed field ordinary; the values that it has stay. Throws NOT_FOUND. */
export async function stopComputing(scope: Scope, fieldId: string): Promise<void> {
  const { id, entityType } = await requireCustomField(scope, fieldId)
  await scope.db.transaction(async (tx) => {
    await tx.query(lockType(scope.workspace.id, entityType))
    await tx.query(dropFormula(scope.workspace.id, id))
  })
}
