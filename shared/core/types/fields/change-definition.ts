import { isDeepStrictEqual } from 'node:util'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceFieldChange } from '#shared/core/types/events.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { applyFieldChange } from '#shared/core/types/fields/field-change.ts'
import { requireComputedVisible, requireUniqueInputsVisible } from '#shared/core/types/fields/field-visibility.ts'
import { type LockedField, lockField, requireCustomField } from '#shared/core/types/fields/require-field.ts'
import { findRestrictions, type Restriction } from '#shared/core/types/fields/restrictions.ts'
import { refuseLargePatterns } from '#shared/core/types/fields/rules.ts'
import { type FieldChange, type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { updateField } from '#shared/core/types/fields/store.ts'
import { requireLimitsStay } from '#shared/core/types/fields/tested-fields.ts'
import { enqueueRecompute } from '#shared/core/types/formulas/change-formula.ts'
import { compileComputations } from '#shared/core/types/formulas/computations.ts'
import { requireAllowedNumber } from '#shared/core/types/numbering/change-numbering.ts'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import { changeTable, startEdition } from '#shared/core/types/tables/change-table.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Checks existing records against the new restrictions while writes of the type are blocked; throws when some violate them. */
type RequireRecordsConform = (tx: Tx, field: LockedField, restrictions: readonly Restriction[]) => Promise<void>

/**
 * Changes a field's definition. New restrictions are passed to `requireConform` while writes of the type are blocked; every later write
 * follows the new rules. Throws NOT_FOUND, and VALIDATION_ERROR for input that `applyFieldChange` refuses, for a removed option that a
 * formula uses and for rules that the field's auto-numbers break, and FORBIDDEN for rules of a unique field that reads a hidden one.
 */
export async function changeFieldDefinition(
  scope: Scope,
  fieldId: string,
  change: FieldChange,
  requireConform: RequireRecordsConform,
): Promise<FieldView> {
  const found = await requireCustomField(scope, fieldId)
  return changeTable(scope, async (tx) => {
    const locked = await lockField(tx, scope, found)
    const { type, field } = locked
    const after = applyFieldChange(field, change)
    const { label, description, required, rules } = after
    const changed: Field = { ...field, ...after }
    const fields = type.fields.map((other) => (other.id === field.id ? changed : other))
    refuseBadFormulas(fields, changed)
    if (rules.pattern !== field.rules.pattern) refuseLargePatterns(fields)
    if (JSON.stringify(rules) !== JSON.stringify(field.rules)) {
      requireUniqueInputsVisible(scope, type.key, fields, changed)
      requireComputedVisible(scope, { key: type.key, fields }, changed)
      if (field.rules.formula !== undefined) requireLimitsStay(scope, type, field)
    }
    if (field.autogen !== '') requireAllowedNumber(changed, parseNumbering(field.autogen).format(1, scope.now()))
    const restrictions = findRestrictions(field, after)
    const recomputes = field.rules.formula !== undefined && change.rules !== undefined
    if (restrictions.length > 0 || recomputes) await startEdition(tx, type)
    if (restrictions.length > 0) await requireConform(tx, locked, restrictions)
    const stored = { label, description, required, rules: JSON.stringify(rules) }
    await tx.query(updateField({ workspaceId: type.workspaceId, id: field.id, ...stored }))
    const view = toFieldView(changed)
    if (!isDeepStrictEqual(view, toFieldView(field))) await announceFieldChange(within(scope, tx), type, field)
    // The recompute clears results that the new rules forbid and sets those that the old rules forbade.
    if (recomputes) await enqueueRecompute(scope, tx, type)
    return view
  })
}

/** Throws VALIDATION_ERROR when a formula is no longer valid with the changed field, such as when it uses a removed option. */
function refuseBadFormulas(fields: readonly Field[], changed: Field): void {
  try {
    compileComputations(fields)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw problem('VALIDATION_ERROR', `rules: a formula needs ${changed.key} as it is; ${error.message}`, { cause: error })
  }
}
