import { parseOptions } from '#shared/core/types/field-kinds/choice.ts'
import { parseCurrencyCode } from '#shared/core/types/field-kinds/currency.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { parseAmount } from '#shared/core/types/field-kinds/number.ts'
import { maxTextLength, parseText } from '#shared/core/types/field-kinds/text.ts'
import { parseValue } from '#shared/core/types/field-kinds/value.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { Field, FieldRules, RuleKey } from '#shared/core/types/fields/field.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { suggestSpelling } from '#shared/platform/kernel/known-keys.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { jsonDouble, toJsonNumber } from '#shared/platform/kernel/values/json.ts'
import { compilePattern, maxPatternLength } from '#shared/platform/kernel/values/pattern.ts'

type SentRule = Exclude<RuleKey, 'default' | 'formula'>

const readers: { readonly [K in SentRule]: (input: unknown, path: string) => NonNullable<FieldRules[K]> } = {
  min_len: parseLength,
  max_len: parseLength,
  pattern: parsePattern,
  min: parseAmount,
  max: parseAmount,
  options: parseOptions,
  unit: parseCurrencyCode,
  ref_type: parseTypeKey,
}

/** Rules that are mandatory for the types that have them. */
export const requiredRules: readonly SentRule[] = ['options', 'ref_type']

/**
 * Parses the rules of a new field (document 1, Keys of rules). Null and undefined are no rules; a known rule that is null is omitted.
 * Throws VALIDATION_ERROR that names the rule when it is unknown, not for the type, malformed or missing, when bounds cross, and when the
 * default breaks the field's own rules. Does not check that the type in `ref_type` exists.
 */
export function parseRules(input: unknown, type: FieldType): FieldRules {
  const { default: initial, ...others } = readSentRules(input, type)
  const rules: FieldRules = Object.fromEntries(Object.entries(others).map(([key, rule]) => [key, readRule(key, rule, type)]))
  for (const key of requiredRules) {
    if (fieldKinds[type].ruleKeys.includes(key) && rules[key] === undefined) {
      throw problem('VALIDATION_ERROR', `rules.${key} is required for a ${type} field`)
    }
  }
  refuseCrossedBounds(rules)
  if (initial === undefined) return rules
  return { ...rules, default: parseValue(initial, { type, rules }, { path: 'rules.default', defaultCurrency: '' }) }
}

/** Throws VALIDATION_ERROR when a field of the type cannot be unique (decisions, `unique`). */
export function requireUniqueable(type: FieldType): void {
  if (!fieldKinds[type].canBeUnique) throw problem('VALIDATION_ERROR', `unique is not possible for a ${type} field`)
}

/**
 * Maximum compiled instructions of all patterns of one type together. One record is checked against all of them: with text made to be slow
 * to match, 300 of the largest patterns would take about 8 s; patterns of this size take 0.2 s.
 */
const maxTypePatternSize = 20_000

/** Throws VALIDATION_ERROR when the patterns of all fields of a type exceed `maxTypePatternSize`. */
export function refuseLargePatterns(fields: readonly Pick<Field, 'rules'>[]): void {
  const size = fields.reduce((sum, { rules: { pattern } }) => sum + (pattern === undefined ? 0 : compilePattern(pattern).size), 0)
  if (size > maxTypePatternSize) {
    throw problem(
      'VALIDATION_ERROR',
      'rules.pattern: the patterns of a type are too large together; use smaller repeat counts or fewer patterns',
    )
  }
}

/** Converts rules to the response form: bounds and the default as callers send them. */
export function rulesToJson({ min, max, default: initial, ...others }: FieldRules, type: FieldType): Readonly<Record<string, unknown>> {
  return {
    ...others,
    ...(min === undefined ? {} : { min: toJsonNumber(min) }),
    ...(max === undefined ? {} : { max: toJsonNumber(max) }),
    ...(initial == null ? {} : { default: defaultToJson(initial, type) }),
  }
}

/** A currency default without a code was sent as a number and is returned as one. */
function defaultToJson(value: NonNullable<FieldValue>, type: FieldType): unknown {
  const isBare = typeof value === 'object' && 'code' in value && value.code === ''
  return isBare ? toJsonNumber(value.amount) : fieldKinds[type].toJson(value)
}

function readSentRules(input: unknown, type: FieldType): Readonly<Record<string, unknown>> {
  if (input === null || input === undefined) return {}
  if (typeof input !== 'object' || Array.isArray(input) || JSON.isRawJSON(input)) throw invalidValueProblem('rules', 'an object', input)
  for (const [key, rule] of Object.entries(input)) if (rule === null && !isNullable(key)) throw unknownRule(key, type)
  return Object.fromEntries(Object.entries(input).filter(([, rule]) => rule !== null))
}

/** Whether a rule may be sent as null, which omits it; it may be a rule of another field type. */
const isNullable = (key: string): boolean => key === 'default' || key === 'formula' || isSentRule(key)

const unknownRule = (key: string, type: FieldType) =>
  problem(
    'VALIDATION_ERROR',
    `rules.${key.slice(0, 200)} is no rule of a ${type} field${suggestSpelling(key, [...fieldKinds[type].ruleKeys, 'default'])}`,
  )

function readRule(key: string, rule: unknown, type: FieldType): unknown {
  if (key === 'formula') throw problem('VALIDATION_ERROR', 'rules.formula is set through the formula route once the field exists')
  if (!isSentRule(key) || !fieldKinds[type].ruleKeys.includes(key)) throw unknownRule(key, type)
  return readers[key](rule, `rules.${key}`)
}

const isSentRule = (key: string): key is SentRule => Object.hasOwn(readers, key)

function parseLength(input: unknown, path: string): number {
  const length = jsonDouble(input) ?? Number.NaN
  if (Number.isInteger(length) && length >= 0 && length <= maxTextLength) return length
  throw invalidValueProblem(path, `a whole number from 0 to ${maxTextLength}`, input)
}

function parsePattern(input: unknown, path: string): string {
  const pattern = parseText(input, path, maxPatternLength)
  compilePattern(pattern, path)
  return pattern
}

function parseTypeKey(input: unknown, path: string): string {
  if (typeof input !== 'string' || input === '') throw invalidValueProblem(path, 'the key of a record type', input)
  return input
}

function refuseCrossedBounds({ min_len, max_len, min, max }: FieldRules): void {
  if (min_len !== undefined && max_len !== undefined && min_len > max_len)
    throw invalidValueProblem('rules.min_len', `at most rules.max_len, ${max_len}`, min_len)
  if (min !== undefined && max !== undefined && new Decimal(min).gt(max))
    throw invalidValueProblem('rules.min', `at most rules.max, ${max}`, toJsonNumber(min))
}
