import fc from 'fast-check'
import type { TestedField } from '#shared/core/policy/conditions/tested-value.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { type FieldType, type FieldValue, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import type { NaiveCaller, NaiveRecord } from '#test/core/policy/naive.ts'

/** The type of the random rules: a field of each type, `twice` computed from `number`, and `again` from `twice`. */
export const typeKey = 'things'
export const fields: readonly TestedField[] = [
  ...fieldTypes.map((type) => ({ key: `a_${type}`, type, column: `f ${type}` })),
  { key: 'twice', type: 'number', column: 'twice', reads: ['a_number', 'a_currency'] },
  { key: 'again', type: 'text', column: 'again', reads: ['twice'] },
]
export const types: Readonly<Record<string, FieldType>> = Object.fromEntries(fields.map(({ key, type }) => [key, type]))
export const reads = Object.fromEntries(fields.map((field) => [field.key, field.reads ?? []]))

export const ids = [1, 2, 3, 4].map((digit) => `018f0000-0000-7000-8000-0000000000a${digit}`)
const [me = '', service = ''] = ids

// Few values, so that sides meet often; the odd ones are where two implementations like to part: signs of LIKE, quotes and placeholders,
// letters with uneven case, text beyond U+FFFF, numbers as text, numbers that binary floats cannot hold, days that do not exist.
// biome-ignore format: a table
const texts = [
  '', ' ', 'a', 'A', 'b', 'ab', 'AB', 'a%b_c\\', "o'clock ? $1 ??", 'İ', 'i', 'Σ', 'σ', 'ς', 'ß', 'ẞ', 'SS', 'Ǆ', 'ǆ', '😀', '\u{FFFD}', '\u{E000}',
  '1', '1.0', '9', '10', '+10', '-1', '.5', '5.', '1e1', '1e400', '1e-400', '1e9999', ' 1', '1 ', '0x10', '٣', 'NaN', 'Infinity',
  '12345678901234.123456', '12345678901234.1234561', '2024-02-29', '2023-02-29', 'true', 'null', '{a}', '["a"]', 'line\nbreak', '10\n',
]
const numbers = ['0', '1', '-1', '9', '10', '1.5', '0.000001', '12345678901234.123456', '-99999999999999.999999', '99999999999999.999999']
const days = ['2024-02-28', '2024-02-29', '2024-03-01', '0001-01-01', '9999-12-31', '1969-12-31']
// biome-ignore format: a table
const instants = [
  '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000001Z', '2024-02-29T23:59:59.999999Z', '2024-03-01T00:00:00Z', '2024-02-28T12:00:00Z',
  '1969-12-31T23:59:59.999999Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z',
]
// biome-ignore format: a table
const otherTimes = [
  '2024-02-30', '0000-01-01', '2024-02-29T01:00:00+01:00', '2024-02-29T00:00:00.0000019Z', '2024-02-29t00:00:00z', '2024-02-29T24:00:00Z',
  '2024-02-29 00:00:00Z', '2024-02-29T00:00:00', '0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59', '2024-02-29T00:00:00+99:00', '2024', '2024-02-29T23:59:60Z', '2024-02-29T23:59:60.5Z', '2024-02-29T23:59:61Z',
]
const elements = ['a', 'A', 'b', 'ß', 'İ', '1', 'null', 'a,b', '{"x"}', ids[0] ?? '']

export const valuesOf: Readonly<Record<FieldType, readonly FieldValue[]>> = {
  string: texts,
  text: texts,
  email: ['a@example.com', 'A@example.com', 'b@example.com'],
  url: ['https://a.example/', 'https://b.example/?q=1'],
  select: ['a', 'b', '1', '10', 'Ab'],
  file: ['a/b.pdf', 'A/B.PDF', 'c'],
  number: numbers,
  currency: numbers.flatMap((amount) => [
    { amount, code: 'EUR' },
    { amount, code: 'JPY' },
  ]),
  bool: [true, false],
  date: days,
  datetime: instants,
  ref: ids,
  multiselect: [[], ['a'], ['A', 'b'], ['ß'], ['İ', '1'], ['a,b', '{"x"}', 'null']],
  refs: [[], [me], ids],
}

const value = (type: FieldType) => fc.option(fc.constantFrom(...valuesOf[type]), { freq: 6 })

/** A record of the type, with every field present or missing. */
export const record: fc.Arbitrary<NaiveRecord> = fc.record({
  id: fc.uuid({ version: 7 }),
  object_type: fc.constant(typeKey),
  created_by: fc.option(fc.constantFrom(...ids)),
  created_at: fc.constantFrom(...instants),
  values: fc.record(Object.fromEntries(fields.map(({ key, type }) => [key, value(type)]))),
})

export const caller: fc.Arbitrary<NaiveCaller> = fc.constantFrom(
  { id: me, type: 'user' },
  { id: service, type: 'service' },
  { id: null, type: 'anonymous' },
)

/** Every operand that the cases use, with any other side. */
export const operands: readonly (string | number | boolean)[] = [
  ...new Set([
    ...texts,
    ...numbers,
    ...days,
    ...instants,
    ...otherTimes,
    ...elements,
    ...ids,
    'principal.id',
    'user',
    'anonymous',
    typeKey,
  ]),
  ...[ids[0]?.toUpperCase() ?? '', '018F', 0, 1, -1, 9, 10, 1.5, 0.5, 1e21, 5e-324, Number.MAX_VALUE, -0, true, false],
]
const scalar = fc.constantFrom(...operands)

const tests = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'), scalar) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('in', 'nin'), fc.array(scalar, { maxLength: 6 })) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant('contains'), fc.constantFrom(...operands.filter((operand) => typeof operand === 'string'))),
  },
)

/** Conditions that rules can test beside fields, and a field that the type does not have. */
export const otherTested = [
  'resource.owner',
  'resource.created_at',
  'resource.object_type',
  'resource.id',
  'resource.unknown',
  'principal.id',
  'principal.type',
]
const tested = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...fields.map(({ key }) => `resource.${key}`)) },
  fc.constantFrom(...otherTested),
)

/** A test whose operand is often a value that the field can have, so that it sometimes passes. */
const aimed = fc.constantFrom(...fields).chain(({ key, type }) => {
  const likely = valuesOf[type].filter((one) => typeof one !== 'object')
  const operand = likely.length === 0 ? scalar : fc.constantFrom(...likely)
  return fc.tuple(fc.constantFrom('eq', 'ne', 'gte', 'lt'), operand).map((test) => [`resource.${key}`, Object.fromEntries([test])] as const)
})
const wild = fc.tuple(
  tested,
  fc.array(tests, { minLength: 1, maxLength: 2 }).map((all) => Object.fromEntries(all)),
)

const condition = fc.array(fc.oneof(wild, aimed), { minLength: 0, maxLength: 2 }).map((all) => Object.fromEntries(all))

const someFields = fc.subarray(
  fields.map(({ key }) => key),
  { maxLength: 4 },
)
const mask = fc.record({ allow: someFields, deny: someFields }, { requiredKeys: [] })

/** A rule about reading things, sometimes about something else. */
export const rule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    effect: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const),
    actions: fc.constantFrom(
      ['records:read' as const],
      ['records:*' as const],
      ['*' as const],
      ['records:update' as const, 'records:read' as const],
      ['types:read' as const],
    ),
    resources: fc.constantFrom('*' as const, [], [typeKey], ['others'], ['others', typeKey], ['*']),
    condition,
    fields: mask,
  },
  { requiredKeys: ['effect', 'actions'] },
)

/** A rule like others of its kind: it permits reading a thing with one of some values, with one of two masks. */
export const alike: fc.Arbitrary<PolicyRule> = fc.record({
  effect: fc.constantFrom('allow' as const, 'allow' as const, 'allow' as const, 'deny' as const),
  actions: fc.constant(['records:read' as const]),
  condition: fc.constantFrom('select' as const, 'number' as const, 'date' as const, 'ref' as const).chain((type) => {
    const one = fc.constantFrom(...valuesOf[type].filter((value) => typeof value !== 'object'), 'principal.id', '1.0')
    const test = fc.oneof(
      one.map((eq) => ({ eq })),
      fc.array(one, { maxLength: 3 }).map((all) => ({ in: all })),
    )
    return test.map((tests) => ({ [`resource.a_${type}`]: tests }))
  }),
  fields: fc.constantFrom({}, { deny: ['a_number'] }, { allow: ['a_number', 'a_select'] }),
})
