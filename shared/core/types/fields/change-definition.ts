import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { applyFieldChange, type FieldChange, type FieldDefinition } from '#shared/core/types/fields/field-change.ts'
import { type LockedField, lockField } from '#shared/core/types/fields/lock-field.ts'
import { refuseLargePatterns } from '#shared/core/types/fields/pattern-limit.ts'
import { requireCustomField } from '#shared/core/types/fields/require-field.ts'
import { findRestrictions, type Restriction } from '#shared/core/types/fields/restrictions.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { updateField } from '#shared/core/types/fields/store.ts'
import { compileComputations } from '#shared/core/types/formulas/computations.ts'
import { enqueueRecompute } from '#shared/core/types/formulas/enqueue-recompute.ts'
import { requireAllowedNumber } from '#shared/core/types/numbering/change-numbering.ts'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { startEdition } from '#shared/core/types/tables/edition.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Looks whether records keep what a change newly asks for, while nobody can write any of the type; throws when some do not. */
export type RequireRecordsConform = (tx: Tx, field: LockedField, tightenings: readonly Restriction[]) => Promise<void>

/**
 * Changes a field's definition. What it newly asks of records is handed to `requireKept` while no write of the type can happen, and every
 * write after it meets the new rules. Throws NOT_FOUND, and VALIDATION_ERROR for what `definitionAfter` refuses, an option that a formula
 * names and rules that the field's own numbers break.
 */
export async function changeFieldDefinition(
  scope: Scope,
  fieldId: string,
  change: FieldChange,
  requireKept: RequireRecordsConform,
): Promise<FieldView> {
  const found = await requireCustomField(scope, fieldId)
  return changeTable(scope, async (tx) => {
    const locked = await lockField(tx, scope, found)
    const { type, field } = locked
    const after = applyFieldChange(field, change)
    const changed: Field = { ...field, ...after }
    const fields = type.fields.map((other) => (other.id === field.id ? changed : other))
    refuseBadFormulas(fields, changed)
    if (after.rules.pattern !== field.rules.pattern) refuseLargePatterns(fields)
    if (field.autogen !== '') requireAllowedNumber(changed, parseNumbering(field.autogen).format(1, scope.now()))
    const tightenings = findRestrictions(field, after)
    const recomputes = field.rules.formula !== undefined && change.rules !== undefined
    if (tightenings.length > 0 || recomputes) await startEdition(tx, type)
    if (tightenings.length > 0) await requireKept(tx, locked, tightenings)
    await tx.query(updateField(type.workspaceId, field.id, ...columnsOf(after)))
    // Results that the new rules do not allow are given up, and those that the old ones did not allow are found.
    if (recomputes) await enqueueRecompute(scope, tx, type)
    return toFieldView(changed)
  })
}

const columnsOf = ({ label, description, required, rules }: FieldDefinition) => [label, description, required, JSON.stringify(rules)]

/** A formula may name an option of a select field, which therefore stays. */
function refuseBadFormulas(fields: readonly Field[], changed: Field): void {
  try {
    compileComputations(fields)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw problem('VALIDATION_ERROR', `rules: a formula needs ${changed.key} as it is; ${error.message}`, { cause: error })
  }
}
