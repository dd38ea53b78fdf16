import test from 'ava'
import { defaultValue, parseValue } from '#shared/core/types/field-kinds/value.ts'
import { parseRules, requireUniqueable, rulesToJson } from '#shared/core/types/fields/rules.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { complaint, context, shape } from '#test/core/types/fields/support.ts'

const id = '0192f3a0-0000-7000-8000-00000000000a'

const accepted: readonly (readonly [FieldType, Readonly<Record<string, unknown>>, read?: Readonly<Record<string, unknown>>])[] = [
  ['string', { min_len: 0, max_len: 500, pattern: '^\\p{L}+$', default: 'abc' }],
  ['text', { max_len: 100_000, default: '' }],
  ['email', { max_len: 60, default: 'ada@example.com' }],
  ['url', { min_len: 9 }],
  ['number', { min: -5, max: 5, default: 0 }],
  ['number', { min: '0.10', max: '0.2', default: '0.15' }, { min: 0.1, max: 0.2, default: 0.15 }],
  ['number', { min: 5, max: 5 }],
  ['currency', { unit: 'JPY', min: 0, default: 100 }, { unit: 'JPY', min: 0, default: { amount: 100, code: 'JPY' } }],
  ['currency', { default: 12.5 }],
  ['currency', { default: { amount: 12.5, code: 'USD' } }],
  ['bool', { default: 'true' }, { default: true }],
  ['date', { default: '2026-01-31' }],
  ['datetime', { default: '2026-01-31T00:00:00+01:00' }, { default: '2026-01-30T23:00:00.000000Z' }],
  ['select', { options: ['a', 'constructor', '__proto__'], default: 'constructor' }],
  ['multiselect', { options: ['a', 'b'], default: ['b', 'a'] }],
  ['ref', { ref_type: 'companies', default: id }],
  ['refs', { ref_type: 'companies', default: [id] }],
  ['file', { default: 'a/b.txt' }],
  ['string', { min_len: null, pattern: null, default: null }, {}],
]
for (const [index, [type, sent, read]] of accepted.entries()) {
  test(`fields rules: ${index}: ${type} takes the rules ${JSON.stringify(sent)}`, (t) => {
    const rules = parseRules(sent, type)
    t.deepEqual(rulesToJson(rules, type), read ?? sent)
    t.deepEqual(parseStoredJson(JSON.stringify(rules)), rules, 'the column loses nothing')
  })
}

const refused: readonly (readonly [FieldType, unknown, RegExp])[] = [
  ['string', [], /^rules must be an object/],
  ['string', 'min_len', /^rules must be an object/],
  ['string', { minlen: 5 }, /^rules\.minlen is no rule of a string field; did you mean min_len\?$/],
  ['string', JSON.parse('{"__proto__": 1}'), /^rules\.__proto__ is no rule/],
  ['string', { constructor: 1 }, /^rules\.constructor is no rule/],
  ['string', { formula: '1' }, /^rules\.formula is set through the formula route/],
  ['string', { min: 5 }, /^rules\.min is no rule of a string field/],
  ['number', { min_len: 5 }, /^rules\.min_len is no rule of a number field/],
  ['text', { pattern: 'a' }, /^rules\.pattern is no rule of a text field/],
  ['string', { options: ['a'] }, /^rules\.options is no rule of a string field/],
  ['number', { unit: 'EUR' }, /^rules\.unit is no rule of a number field/],
  ['bool', { ref_type: 'a' }, /^rules\.ref_type is no rule of a bool field/],
  ['string', { min_len: -1 }, /^rules\.min_len must be a whole number from 0/],
  ['string', { min_len: 1.5 }, /^rules\.min_len must be a whole number/],
  ['string', { max_len: '5' }, /^rules\.max_len must be a whole number/],
  ['string', { max_len: 100_001 }, /^rules\.max_len must be a whole number/],
  ['string', { min_len: 6, max_len: 5 }, /^rules\.min_len must be at most rules\.max_len, 5, got 6/],
  ['string', { pattern: '(' }, /^rules\.pattern must be an RE2 expression/],
  ['string', { pattern: '(?=a)' }, /^rules\.pattern .*look-around/],
  ['string', { pattern: 5 }, /^rules\.pattern must be text/],
  ['string', { pattern: 'x'.repeat(501) }, /^rules\.pattern must be at most 500/],
  ['number', { min: 'a' }, /^rules\.min must be a number/],
  ['number', { max: '1.1234567' }, /^rules\.max must be a number/],
  ['number', { min: '0.2', max: 0.1 }, /^rules\.min must be at most rules\.max, 0\.1/],
  ['currency', { unit: 'HRK' }, /^rules\.unit must be an ISO 4217/],
  ['currency', { unit: '' }, /^rules\.unit must be an ISO 4217/],
  ['select', {}, /^rules\.options is required for a select field/],
  ['multiselect', undefined, /^rules\.options is required for a multiselect field/],
  ['select', { options: [] }, /^rules\.options must be at least one option/],
  ['select', { options: 'a' }, /^rules\.options must be an array/],
  ['select', { options: ['a', 'a'] }, /^rules\.options must be an array without duplicates/],
  ['select', { options: ['a', ''] }, /^rules\.options\[1\] must be text that is not empty/],
  ['select', { options: ['a', 5] }, /^rules\.options\[1\] must be text/],
  ['select', { options: ['x'.repeat(201)] }, /^rules\.options\[0\] must be at most 200/],
  ['select', { options: Array.from({ length: 501 }, (_, n) => `o${n}`) }, /^rules\.options must be at most 500/],
  ['ref', {}, /^rules\.ref_type is required for a ref field/],
  ['refs', null, /^rules\.ref_type is required for a refs field/],
  ['ref', { ref_type: 5 }, /^rules\.ref_type must be the key of a record type/],
  ['string', { max_len: 2, default: 'abc' }, /^rules\.default must be at most 2/],
  ['string', { pattern: '^\\d$', default: 'a' }, /^rules\.default must be text matching/],
  ['string', { default: 5 }, /^rules\.default must be text/],
  ['number', { max: 5, default: 6 }, /^rules\.default must be at most 5/],
  ['select', { options: ['a'], default: 'b' }, /^rules\.default must be one of a/],
  ['multiselect', { options: ['a'], default: ['b'] }, /^rules\.default\[0\] must be one of a/],
  ['email', { default: 'x' }, /^rules\.default must be a valid email/],
]
for (const [index, [type, sent, message]] of refused.entries()) {
  test(`fields rules: ${index}: ${type} refuses the rules ${(JSON.stringify(sent) ?? 'undefined').slice(0, 50)}`, (t) => {
    t.regex(complaint(() => parseRules(sent, type)) ?? '', message)
  })
}

test('fields rules: a field of any type but lists may be unique', (t) => {
  const refusing = fieldTypes.filter((type) => complaint(() => requireUniqueable(type)) !== undefined)
  t.deepEqual(refusing, ['multiselect', 'refs'])
})

test('fields rules: missing rules are valid rules', (t) => {
  t.deepEqual(parseRules(undefined, 'string'), {})
  t.deepEqual(parseRules(null, 'number'), {})
})

test('fields rules: a currency default without a code takes the workspace’s present currency, or the field’s own', (t) => {
  t.deepEqual(defaultValue(shape('currency', parseRules({ default: 5 }, 'currency')), 'CHF'), { amount: '5', code: 'CHF' })
  t.deepEqual(defaultValue(shape('currency', parseRules({ default: 5, unit: 'JPY' }, 'currency')), 'CHF'), { amount: '5', code: 'JPY' })
  t.deepEqual(defaultValue(shape('currency', parseRules({ default: { amount: 5, code: 'USD' } }, 'currency')), 'CHF'), {
    amount: '5',
    code: 'USD',
  })
  t.is(defaultValue(shape('string'), 'CHF'), null)
})

test('fields rules: bounds are exact to the last digit', (t) => {
  const field = shape('number', parseRules({ min: JSON.rawJSON('12345678901234.123456') }, 'number'))
  t.is(
    complaint(() => parseValue('12345678901234.123456', field, context)),
    undefined,
  )
  t.not(
    complaint(() => parseValue('12345678901234.123455', field, context)),
    undefined,
  )
})
