import type { Scope } from '#shared/core/scope/scope.ts'
import { refuseBlankDefault, requireRefType } from '#shared/core/types/fields/create-field.ts'
import type { Field, FieldRules } from '#shared/core/types/fields/field.ts'
import { refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { parseRules, rulesToJson } from '#shared/core/types/fields/rules.ts'
import type { FieldChange } from '#shared/core/types/fields/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The properties of a field that a `FieldChange` may change. */
export type FieldDefinition = Pick<Field, 'label' | 'description' | 'required' | 'rules'>

/** Returns the field's definition after a change. Throws VALIDATION_ERROR as on creation. Does not check existing records. */
export function applyFieldChange(field: Field, { label = field.label, description, required, rules }: FieldChange): FieldDefinition {
  const after = {
    label,
    description: description === undefined ? field.description : (description ?? ''),
    required: required === undefined ? field.required : (required ?? false),
    rules: rules === undefined ? field.rules : applyRules(field, rules),
  }
  refuseBlankDefault(after.required, after.rules)
  return after
}

/**
 * Checks a change without reading records and returns the payload for the worker, with parsed rules only. Throws NOT_FOUND for a built-in
 * field, and VALIDATION_ERROR.
 */
export async function validateFieldChange(
  scope: Scope,
  field: Field,
  change: FieldChange,
): Promise<{ fieldId: string; change: FieldChange }> {
  refuseBuiltIn(field)
  const {
    rules: { formula: _, ...rules },
  } = applyFieldChange(field, change)
  if (rules.ref_type !== field.rules.ref_type) await requireRefType(scope, rules.ref_type, 'rules.ref_type')
  return { fieldId: field.id, change: { ...change, ...(change.rules === undefined ? {} : { rules: rulesToJson(rules, field.type) }) } }
}

/** The formula is set through its own route. Clients send back the rules they read, so the current formula is accepted here. */
function applyRules({ type, rules: { formula } }: Field, sent: unknown): FieldRules {
  if (!hasFormula(sent)) return withFormula(parseRules(sent, type), formula)
  const { formula: sentFormula, ...others } = sent
  if (sentFormula !== null && sentFormula !== formula)
    throw problem('VALIDATION_ERROR', 'rules.formula is set and removed through the formula route')
  return withFormula(parseRules(others, type), formula)
}

const hasFormula = (sent: unknown): sent is { readonly formula: unknown } =>
  typeof sent === 'object' && sent !== null && Object.hasOwn(sent, 'formula')

const withFormula = (rules: FieldRules, formula: string | undefined): FieldRules => (formula === undefined ? rules : { ...rules, formula })
