import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field, FieldRules, RuleKey } from '#shared/core/types/fields/field.ts'
import type { FieldDefinition } from '#shared/core/types/fields/field-change.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** Something that a change asks of a field's values and that was not asked before. */
export interface Restriction {
  /** `required`, or the rule's path such as `rules.max_len`. */
  readonly name: string
  /** The new rule itself as JSON; two tightenings of one field with the same name and rule are the same. */
  readonly rule: string
  readonly isViolatedBy: (value: FieldValue) => boolean
  /** What is wrong with so many records: `12 records have no value`. */
  readonly describeViolations: (records: number) => string
}

type Stricter = { readonly [K in RuleKey]?: (before: NonNullable<FieldRules[K]>, after: NonNullable<FieldRules[K]>) => boolean }

/** Whether a rule that was there before asks for more now. Rules that ask nothing of values that are there have no row. */
const stricter: Stricter = {
  min_len: (before, after) => after > before,
  max_len: (before, after) => after < before,
  min: (before, after) => new Decimal(after).gt(before),
  max: (before, after) => new Decimal(after).lt(before),
  pattern: (before, after) => after !== before,
  options: (before, after) => before.some((option) => !after.includes(option)),
  unit: (before, after) => after !== before,
}

/** What a change of a field's definition asks of the values that records hold already. A computed field fills itself, as far as it can. */
export function findRestrictions(field: Field, after: FieldDefinition): readonly Restriction[] {
  const required = after.required && !field.required && field.rules.formula === undefined ? [needsValue] : []
  const keys = (Object.keys(stricter) as RuleKey[]).filter((key) => isStricter(key, field.rules, after.rules))
  return [...required, ...keys.map((key) => keepsRule(field, key, after.rules))]
}

function isStricter(key: RuleKey, { [key]: before }: FieldRules, { [key]: after }: FieldRules): boolean {
  if (after === undefined) return false
  return before === undefined || (stricter[key] as (one: unknown, other: unknown) => boolean)(before, after)
}

const needsValue: Restriction = {
  name: 'required',
  rule: 'true',
  isViolatedBy: isBlank,
  describeViolations: (records) => (records === 1 ? '1 record has no value' : `${records} records have no value`),
}

const keepsRule = ({ type }: Field, key: RuleKey, rules: FieldRules): Restriction => {
  const shape = { type, rules: { [key]: rules[key] } }
  const { check } = fieldKinds[type]
  return {
    name: `rules.${key}`,
    rule: JSON.stringify(rules[key]),
    isViolatedBy: (value) => value !== null && isRefused(() => check(value, shape, '')),
    describeViolations: (records) => (records === 1 ? '1 record breaks it' : `${records} records break it`),
  }
}

function isRefused(check: () => void): boolean {
  try {
    check()
    return false
  } catch (error) {
    if (error instanceof Problem) return true
    throw error
  }
}
