import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { createFieldNameFilter, requireComputedVisible, requireUniqueInputsVisible } from '#shared/core/types/fields/field-visibility.ts'
import { lockField, refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { dropFormula, setFormula } from '#shared/core/types/fields/store.ts'
import { compileComputations, withReads } from '#shared/core/types/formulas/computations.ts'
import { reviseFields } from '#shared/core/types/formulas/store.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { changeTable, startEdition } from '#shared/core/types/tables/change-table.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Makes a custom field computed by a formula (document 1, Field rules, 4). Every later write computes it; a worker computes it for existing
 * records. Throws NOT_FOUND; VALIDATION_ERROR for an invalid formula, with its position, for a cycle and for an auto-numbered field;
 * FORBIDDEN when the previous or the new formula reads a field hidden from the caller, or a unique field would read one.
 */
export async function setFieldFormula(scope: Scope, found: Field, formula: string): Promise<FieldView> {
  refuseBuiltIn(found)
  return changeTable(scope, async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    requireComputedVisible(scope, type, field)
    if (field.autogen !== '') throw problem('VALIDATION_ERROR', `${field.key} is auto-numbered; disable that before you set a formula`)
    const changed: Field = { ...field, rules: { ...field.rules, formula } }
    const fields = type.fields.map((other) => (other === field ? changed : other))
    const { reads } = compileComputations(fields, createFieldNameFilter(scope, type))
    const after = withReads(fields, (key) => reads.get(key) ?? [])
    requireUniqueInputsVisible(scope, type.key, after, changed)
    requireComputedVisible(scope, { key: type.key, fields: after }, changed)
    await startEdition(tx, type)
    const droppedReads = (field.reads ?? []).filter((key) => !reads.get(field.key)?.includes(key))
    await tx.query(setFormula({ workspaceId: type.workspaceId, id: field.id, formula, droppedReads }))
    await enqueueRecompute(scope, tx, type)
    return toFieldView(changed)
  })
}

/**
 * Removes a field's formula; its values stay. Values in the audit and in runs keep the mask of what the formula read. Throws NOT_FOUND, and
 * FORBIDDEN when the
 * formula reads a field hidden from the caller.
 */
export async function removeFieldFormula(scope: Scope, found: Field): Promise<void> {
  refuseBuiltIn(found)
  if (found.rules.formula === undefined) return
  await changeTable(scope, async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    requireComputedVisible(scope, type, field)
    await startEdition(tx, type)
    await tx.query(dropFormula({ workspaceId: type.workspaceId, id: field.id }))
    if (field.reads?.length || field.staleReads.length > 0) await reviseFields(tx, type, new Set([field.key]))
  })
}

/**
 * Enqueues the recompute of all records of a type; a worker runs it after the transaction commits. The job runs as the system, so it also
 * runs when the user who changed the formula has left the workspace.
 */
export async function enqueueRecompute(
  { jobQueue, cause }: Pick<Scope, 'jobQueue' | 'cause'>,
  tx: Tx,
  { workspaceId, key }: RecordType,
): Promise<void> {
  const systemCause = { ...cause, actorId: null, actorType: 'system' } as const
  await jobQueue.enqueue(tx, recomputeRecordsJob, { workspaceId, cause: systemCause }, { typeKey: key })
}
