import test from 'ava'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { comparisonSql, readFilter, requireSortable } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { type FieldType, type FieldValue, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { complaint } from '#test/core/types/fields/support.ts'
import { columnsOf, shareTable } from '#test/core/types/fields/table.ts'

const open = shareTable(test)

const one = '0192f3a0-0000-7000-8000-00000000000a'
const two = '0192f3a0-0000-7000-8000-00000000000b'
const euro = (amount: string): FieldValue => ({ amount, code: 'EUR' })
const yen = (amount: string): FieldValue => ({ amount, code: 'JPY' })
const condition = (type: FieldType, op: string | undefined, value?: string | readonly string[]) => {
  const read = readFilter({ key: 'x', type }, { op, value }, 'filter[0]')
  return comparisonSql(columnsOf(type).column, read, read.values)
}

type Case = readonly [type: FieldType, op: string | undefined, value: string | readonly string[] | undefined, found: readonly FieldValue[]]
const rows: Readonly<Partial<Record<FieldType, readonly FieldValue[]>>> = {
  string: ['Ärger', 'ärger im Büro', '50%', '50 of 100', 'a_b', 'a\\b', '', null],
  select: ['Open', 'open', null],
  number: ['1', '1.5', '-2', '12345678901234.123456', null],
  currency: [euro('1'), yen('1'), euro('2'), null],
  bool: [true, false, null],
  date: ['2026-01-01', '2026-01-02', '2026-01-03', null],
  datetime: [
    '2026-01-01T23:59:59.999999Z',
    '2026-01-02T00:00:00.000000Z',
    '2026-01-02T23:59:59.999999Z',
    '2026-01-03T00:00:00.000000Z',
    null,
  ],
  ref: [one, two, null],
  refs: [[one], [two, one], [], null],
  multiselect: [['hot'], ['hot', 'far'], [], null],
  file: ['a/b.txt', null],
}
const [eve, start, end, next] = rows.datetime as readonly string[] as [string, string, string, string]
const cases: readonly Case[] = [
  ['string', undefined, 'ÄRGER', ['Ärger', 'ärger im Büro']],
  ['string', 'contains', 'büro', ['ärger im Büro']],
  ['string', 'contains', '%', ['50%']],
  ['string', 'contains', '_', ['a_b']],
  ['string', 'contains', '\\', ['a\\b']],
  ['string', 'contains', '', ['Ärger', 'ärger im Büro', '50%', '50 of 100', 'a_b', 'a\\b', '']],
  ['string', 'eq', 'ärger', []],
  ['string', 'eq', 'Ärger', ['Ärger']],
  ['string', 'eq', '', ['']],
  ['string', 'ne', 'Ärger', ['ärger im Büro', '50%', '50 of 100', 'a_b', 'a\\b', '', null]],
  ['select', 'eq', 'open', ['open']],
  ['select', undefined, 'OPEN', ['Open', 'open']],
  ['number', undefined, '1.0', ['1']],
  ['number', 'ne', '1', ['1.5', '-2', '12345678901234.123456', null]],
  ['number', 'gt', '12345678901234.123455', ['12345678901234.123456']],
  ['number', 'gte', '1.5', ['1.5', '12345678901234.123456']],
  ['number', 'lt', '1e0', ['-2']],
  ['number', 'lte', '1', ['1', '-2']],
  ['number', 'gt', '1e300', []],
  ['currency', 'eq', '1', [euro('1'), yen('1')]],
  ['currency', 'ne', '1', [euro('2'), null]],
  ['currency', 'gt', '1', [euro('2')]],
  ['bool', undefined, 'true', [true]],
  ['bool', 'eq', 'false', [false]],
  ['date', undefined, '2026-01-02', ['2026-01-02']],
  ['date', 'ne', '2026-01-02', ['2026-01-01', '2026-01-03', null]],
  ['date', 'gte', '2026-01-02', ['2026-01-02', '2026-01-03']],
  ['date', 'eq', '2026-01-02T23:00:00.000000Z', ['2026-01-02']],
  ['date', 'lt', '2026-01-02T23:00:00-02:00', ['2026-01-01', '2026-01-02']],
  ['datetime', undefined, '2026-01-02', [start, end]],
  ['datetime', 'ne', '2026-01-02', [eve, next, null]],
  ['datetime', 'gt', '2026-01-02', [next]],
  ['datetime', 'gte', '2026-01-02', [start, end, next]],
  ['datetime', 'lt', '2026-01-02', [eve]],
  ['datetime', 'lte', '2026-01-02', [eve, start, end]],
  ['datetime', 'lte', '9999-12-31', [eve, start, end, next]],
  ['datetime', 'eq', '2026-01-02T01:00:00+01:00', [start]],
  ['datetime', 'ne', '2026-01-02T00:00:00.000000Z', [eve, end, next, null]],
  ['datetime', 'gt', '2026-01-02T00:00:00.000000Z', [end, next]],
  ['ref', undefined, one.toUpperCase(), [one]],
  ['ref', 'in', [two.toUpperCase()], [two]],
  ['ref', 'not_in', [two], [one, null]],
  ['ref', 'empty', undefined, [null]],
  ['string', 'starts_with', 'ÄRGER', ['Ärger', 'ärger im Büro']],
  ['string', 'starts_with', '5', ['50%', '50 of 100']],
  ['string', 'starts_with', '50%', ['50%']],
  ['string', 'starts_with', 'b', []],
  ['string', 'not_contains', 'ÄRGER', ['50%', '50 of 100', 'a_b', 'a\\b', '', null]],
  ['string', 'in', ['a_b', 'x', ''], ['a_b', '']],
  ['string', 'not_in', ['Ärger', 'ärger im Büro', '50%', '50 of 100'], ['a_b', 'a\\b', '', null]],
  ['string', 'empty', undefined, ['', null]],
  ['string', 'not_empty', undefined, ['Ärger', 'ärger im Büro', '50%', '50 of 100', 'a_b', 'a\\b']],
  ['select', 'in', ['open'], ['open']],
  ['number', 'in', ['1.50', '-2.0'], ['1.5', '-2']],
  ['number', 'not_in', ['1', '12345678901234.1234560'], ['1.5', '-2', null]],
  ['number', 'empty', undefined, [null]],
  ['currency', 'in', ['1.0'], [euro('1'), yen('1')]],
  ['currency', 'not_in', ['1'], [euro('2'), null]],
  ['currency', 'not_empty', undefined, [euro('1'), yen('1'), euro('2')]],
  ['bool', 'in', ['true', 'false'], [true, false]],
  ['bool', 'not_in', ['true'], [false, null]],
  ['date', 'in', ['2026-01-01', '2026-01-03T23:00:00Z'], ['2026-01-01', '2026-01-03']],
  ['datetime', 'in', ['2026-01-02', '2026-01-03T00:00:00Z'], [start, end, next]],
  ['datetime', 'not_in', ['2026-01-02'], [eve, next, null]],
  ['datetime', 'in', ['2026-01-02T01:00:00+01:00'], [start]],
  ['refs', 'has', one.toUpperCase(), [[one], [two, one]]],
  ['refs', 'has_any', [two, one], [[one], [two, one]]],
  ['refs', 'empty', undefined, [[], null]],
  ['refs', 'not_empty', undefined, [[one], [two, one]]],
  ['multiselect', 'has', 'far', [['hot', 'far']]],
  ['multiselect', 'has_any', ['far', 'none'], [['hot', 'far']]],
  ['multiselect', 'empty', undefined, [[], null]],
  ['file', 'in', ['a/b.txt'], ['a/b.txt']],
  ['file', 'empty', undefined, [null]],
]
for (const [type, op, value, found] of cases) {
  test(`search: ${type} ${op ?? 'without an operator'} ${JSON.stringify(value)}`, async (t) => {
    const table = await open()
    await table.keep(type, rows[type] ?? [])
    t.deepEqual(await table.where(type, condition(type, op, value)), found)
  })
}

test('search: each type has exactly the operators of the contract', (t) => {
  const operators = Object.fromEntries(fieldTypes.map((type) => [type, fieldKinds[type].filter.operators.join(' ')]))
  const value = 'in not_in empty not_empty'
  const text = `eq ne contains not_contains starts_with ${value}`
  const ordered = `eq ne gt gte lt lte ${value}`
  const list = 'has has_any empty not_empty'
  t.deepEqual(operators, {
    string: text,
    text,
    select: `eq ne contains ${value}`,
    email: text,
    url: text,
    number: ordered,
    currency: ordered,
    date: ordered,
    datetime: ordered,
    bool: `eq ${value}`,
    ref: `eq ${value}`,
    refs: list,
    multiselect: list,
    file: value,
  })
})

const refused: readonly (readonly [FieldType, string | undefined, string | readonly string[] | undefined, RegExp])[] = [
  [
    'string',
    'gt',
    'a',
    /^filter\[0\]\.op must be one of eq, ne, contains, not_contains, starts_with, in, not_in, empty, not_empty for the string field x, got "gt"$/,
  ],
  ['string', 'constructor', 'a', /^filter\[0\]\.op must be one of/],
  ['number', 'contains', '1', /^filter\[0\]\.op must be one of eq, ne, gt, gte, lt, lte/],
  ['bool', 'ne', 'true', /^filter\[0\]\.op must be one of eq, in, not_in, empty, not_empty for/],
  ['ref', 'ne', one, /^filter\[0\]\.op must be one of eq, in, not_in, empty, not_empty for/],
  ['number', 'eq', 'a', /^filter\[0\]\.value for x must be a number, got "a"/],
  ['number', 'eq', '', /must be a number/],
  ['currency', 'eq', '1 EUR', /must be a number/],
  ['number', 'eq', '0x10', /must be a number/],
  ['number', 'eq', 'NaN', /must be a number/],
  ['bool', 'eq', 'yes', /must be true or false/],
  ['date', 'eq', '2026-02-30', /must be a date as YYYY-MM-DD or an instant/],
  ['datetime', 'eq', 'today', /must be a date as YYYY-MM-DD or an instant/],
  ['ref', 'eq', 'x', /must be the UUID of a record/],
  ['refs', 'eq', one, /^filter\[0\]\.op must be one of has, has_any, empty, not_empty for the refs field x, got "eq"$/],
  ['refs', 'has', 'x', /must be the UUID of a record/],
  ['multiselect', undefined, 'a', /^filter\[0\]\.op must be one of has, has_any, empty, not_empty for the multiselect field x/],
  ['file', undefined, 'a', /^filter\[0\]\.op must be one of in, not_in, empty, not_empty for the file field x/],
  ['select', 'starts_with', 'a', /^filter\[0\]\.op must be one of eq, ne, contains, in/],
  ['string', 'eq', undefined, /^filter\[0\]\.value is required$/],
  ['string', 'eq', ['a'], /^filter\[0\]\.value must be a string$/],
  ['string', 'in', undefined, /^filter\[0\]\.value is required$/],
  ['string', 'in', 'a', /^filter\[0\]\.value must be an array$/],
  ['string', 'in', [], /^filter\[0\]\.value must have at least 1 items$/],
  ['string', 'in', Array(201).fill('a'), /^filter\[0\]\.value must have at most 200 items$/],
  ['number', 'in', ['1', 'a'], /^filter\[0\]\.value for x must be a number, got "a"/],
  ['string', 'empty', '', /^filter\[0\]\.value must be left out for empty$/],
]
for (const [type, op, value, message] of refused) {
  test(`search: refused: ${type} ${op} ${value}`, (t) => {
    t.regex(complaint(() => condition(type, op, value)) ?? '', message)
  })
}

test('search: lists and files cannot be sorted', (t) => {
  t.deepEqual(
    fieldTypes.filter((type) => complaint(() => requireSortable({ key: 'x', type })) !== undefined),
    ['multiselect', 'file', 'refs'],
  )
})

test('search: q searches only string and text fields, as contains does', (t) => {
  t.deepEqual(
    fieldTypes.filter((type) => fieldKinds[type].isText),
    ['string', 'text'],
  )
  const { sql, values } = containsText('a%')
  t.like(readFilter({ key: 'x', type: 'string' }, { op: 'contains', value: 'a%' }, 'filter[0]'), { sql, values })
})
