import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isAccepted, isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field, FieldRules, RuleKey } from '#shared/core/types/fields/field.ts'
import type { FieldDefinition } from '#shared/core/types/fields/field-change.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** A requirement on a field's values that a change adds. */
export interface Restriction {
  /** `required`, or the rule's path such as `rules.max_len`. */
  readonly name: string
  /** The new rule as JSON. Two restrictions of one field with the same name and rule are equal. */
  readonly rule: string
  readonly isViolatedBy: (value: FieldValue) => boolean
  /** The message for a number of violating records: `12 records have no value`. */
  readonly describeViolations: (records: number) => string
}

type Stricter = { readonly [K in RuleKey]?: (before: NonNullable<FieldRules[K]>, after: NonNullable<FieldRules[K]>) => boolean }

/** Whether a changed rule is stricter than before. Rules that do not restrict existing values have no entry. */
const stricter: Stricter = {
  min_len: (before, after) => after > before,
  max_len: (before, after) => after < before,
  min: (before, after) => new Decimal(after).gt(before),
  max: (before, after) => new Decimal(after).lt(before),
  pattern: (before, after) => after !== before,
  options: (before, after) => before.some((option) => !after.includes(option)),
  unit: (before, after) => after !== before,
}

/** Returns the restrictions that a change adds for existing values. A computed field is exempt from `required`. */
export function findRestrictions(field: Field, after: FieldDefinition): readonly Restriction[] {
  const required = after.required && !field.required && field.rules.formula === undefined ? [requiredRestriction] : []
  const keys = (Object.keys(stricter) as RuleKey[]).filter((key) => isStricter(key, field.rules, after.rules))
  return [...required, ...keys.map((key) => ruleRestriction(field, key, after.rules))]
}

function isStricter(key: RuleKey, { [key]: before }: FieldRules, { [key]: after }: FieldRules): boolean {
  if (after === undefined) return false
  return before === undefined || (stricter[key] as (one: unknown, other: unknown) => boolean)(before, after)
}

const requiredRestriction: Restriction = {
  name: 'required',
  rule: 'true',
  isViolatedBy: isBlank,
  describeViolations: (records) => (records === 1 ? '1 record has no value' : `${records} records have no value`),
}

const ruleRestriction = ({ type }: Field, key: RuleKey, rules: FieldRules): Restriction => {
  const shape = { type, rules: { [key]: rules[key] } }
  const { check } = fieldKinds[type]
  return {
    name: `rules.${key}`,
    rule: JSON.stringify(rules[key]),
    isViolatedBy: (value) => value !== null && !isAccepted(() => check(value, shape, '')),
    describeViolations: (records) => (records === 1 ? '1 record breaks it' : `${records} records break it`),
  }
}
