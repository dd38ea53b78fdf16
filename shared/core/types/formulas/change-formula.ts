import { inputsOf } from '#shared/core/policy/fields/field-access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceFieldChange } from '#shared/core/types/events.ts'
import { clearFieldValues } from '#shared/core/types/fields/create-field.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import {
  createFieldNameFilter,
  isFieldAlwaysVisible,
  requireComputedVisible,
  requireUniqueInputsVisible,
} from '#shared/core/types/fields/field-visibility.ts'
import { lockField, refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { addStaleReads, dropFormula, setFormula } from '#shared/core/types/fields/store.ts'
import { requireLimitsStay, requireTestedInputsVisible } from '#shared/core/types/fields/tested-fields.ts'
import { compileComputations, withReads } from '#shared/core/types/formulas/computations.ts'
import { reviseFields } from '#shared/core/types/formulas/store.ts'
import { recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { changeTable, startEdition } from '#shared/core/types/tables/change-table.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Makes a custom field computed by a formula (docs/contract/types-and-fields.md#formulas). Every later write computes it; a worker computes
 * it for existing records. Throws NOT_FOUND; VALIDATION_ERROR for an invalid formula, with its position, for a cycle and for an
 * auto-numbered field; FORBIDDEN when the previous or the new formula reads a field hidden from the caller, when a unique field or one that
 * a role tests would read one, and when a rule that limits the caller tests the field.
 */
export async function setFieldFormula(scope: Scope, found: Field, formula: string): Promise<FieldView> {
  refuseBuiltIn(found)
  return changeTable(scope, async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    requireLimitsStay(scope, type, field)
    requireComputedVisible(scope, type, field)
    if (field.autogen !== '') throw problem('VALIDATION_ERROR', `${field.key} is auto-numbered; disable that before you set a formula`)
    const changed: Field = { ...field, rules: { ...field.rules, formula } }
    const fields = type.fields.map((other) => (other === field ? changed : other))
    const { reads } = compileComputations(fields, createFieldNameFilter(scope, type))
    const after = withReads(fields, (key) => reads.get(key) ?? [])
    requireUniqueInputsVisible(scope, type.key, after, changed)
    requireComputedVisible(scope, { key: type.key, fields: after }, changed)
    await requireTestedInputsVisible(scope, tx, { key: type.key, fields: after }, changed)
    await startEdition(tx, type)
    const newInputs = new Set(inputsOf(after.map((other) => ({ ...other, staleReads: [] })))(field.key))
    const droppedReads = inputsOf(type.fields)(field.key).filter((key) => !newInputs.has(key))
    await tx.query(setFormula({ workspaceId: type.workspaceId, id: field.id, formula, droppedReads }))
    await enqueueRecompute(scope, tx, type)
    if (formula !== field.rules.formula) await announceFieldChange(within(scope, tx), type, field)
    return toFieldView(changed)
  })
}

/**
 * Removes a field's formula. Its values stay as plain ones if the caller reads the field in every record and none derives from a formula that
 * was changed; otherwise they are discarded, since their mask ends with the formula. Values in the audit and in runs keep the mask of what
 * the formula read. Throws NOT_FOUND, and FORBIDDEN when the formula reads a field hidden from a caller who reads records, or when a rule that
 * limits the caller tests the field.
 */
export async function removeFieldFormula(scope: Scope, found: Field): Promise<void> {
  refuseBuiltIn(found)
  if (found.rules.formula === undefined) return
  await changeTable(scope, async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    requireLimitsStay(scope, type, field)
    requireComputedVisible(scope, type, field)
    await startEdition(tx, type)
    const discards = !mayDisclose(scope, type, field)
    if (discards) await discardResults(scope, tx, type, field)
    await tx.query(dropFormula({ workspaceId: type.workspaceId, id: field.id }))
    // Discarding writes no audit entries of records, so the field counts as a new one.
    if (discards || field.reads?.length || field.staleReads.length > 0) await reviseFields(tx, type, new Set([field.key]))
    await announceFieldChange(within(scope, tx), type, field)
  })
}

/** Whether the caller reads every stored result of the field, so that it may leave them as plain values to all who read the field. */
function mayDisclose(scope: Scope, type: RecordType, field: Field): boolean {
  const isStale = inputsOf(type.fields)(field.key).some((key) => type.fieldByKey.get(key)?.staleReads.length)
  return !isStale && isFieldAlwaysVisible(scope, type, field)
}

/** Discards the results of a field. Those that other formulas computed from them keep their mask until a recompute has replaced them. */
async function discardResults(scope: Scope, tx: Tx, type: RecordType, field: Field): Promise<void> {
  const inputs = inputsOf(type.fields)
  const readers = type.fields.filter((other) => other !== field && inputs(other.key).includes(field.key))
  await clearFieldValues(tx, type.workspaceId, field)
  if (readers.length === 0) return
  await tx.query(addStaleReads({ workspaceId: type.workspaceId, ids: readers.map(({ id }) => id), reads: inputs(field.key) }))
  await enqueueRecompute(scope, tx, type)
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
