import { readFileSync } from 'node:fs'
import test from 'ava'
import { parseValue, valueToJson } from '#shared/core/types/field-kinds/value.ts'
import type { FieldRules } from '#shared/core/types/fields/field.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { complaint, context, shape } from '#test/core/types/fields/support.ts'

const id = '0192F3A0-0000-7000-8000-00000000000A'
const exact = (text: string): unknown => JSON.rawJSON(text)

type Accepted = readonly [type: FieldType, sent: unknown, kept: FieldValue, read?: string | undefined, rules?: FieldRules]
const accepted: readonly Accepted[] = [
  ['string', '', ''],
  ['string', 'ß 😀', 'ß 😀'],
  ['string', '😀'.repeat(500), '😀'.repeat(500)],
  ['text', 'x'.repeat(100_000), 'x'.repeat(100_000)],
  ['email', 'ada+x@example.co.uk', 'ada+x@example.co.uk'],
  ['email', 'ada@münchen.example', 'ada@münchen.example'],
  ['url', 'https://example.com', 'https://example.com'],
  ['url', 'HTTP://Example.COM:8080/a?b=c#d', 'HTTP://Example.COM:8080/a?b=c#d'],
  ['url', 'http://localhost/ä', 'http://localhost/ä'],
  ['number', 5, '5', '5'],
  ['number', 1.1, '1.1', '1.1'],
  ['number', '1.10', '1.1', '1.1'],
  ['number', '1.1000000000', '1.1', '1.1'],
  ['number', '007', '7', '7'],
  ['number', '+5', '5', '5'],
  ['number', '.5', '0.5', '0.5'],
  ['number', '-0.0', '0', '0'],
  ['number', -0, '0', '0'],
  ['number', exact('1e3'), '1000', '1000'],
  ['number', exact('1.50'), '1.5', '1.5'],
  ['number', 1e-6, '0.000001', '0.000001'],
  ['number', 99999999999999, '99999999999999', '99999999999999'],
  ['number', exact('12345678901234.123456'), '12345678901234.123456', '12345678901234.123456'],
  ['number', '-12345678901234.123456', '-12345678901234.123456', '-12345678901234.123456'],
  ['currency', 12.5, { amount: '12.5', code: 'EUR' }, '{"amount":12.5,"code":"EUR"}'],
  ['currency', '12.5', { amount: '12.5', code: 'JPY' }, '{"amount":12.5,"code":"JPY"}', { unit: 'JPY' }],
  ['currency', { amount: '1', code: 'XCG' }, { amount: '1', code: 'XCG' }, '{"amount":1,"code":"XCG"}'],
  ['currency', { amount: 1, code: 'USD' }, { amount: '1', code: 'JPY' }, '{"amount":1,"code":"JPY"}', { unit: 'JPY' }],
  ['currency', { amount: 1, code: 'no code at all' }, { amount: '1', code: 'JPY' }, '{"amount":1,"code":"JPY"}', { unit: 'JPY' }],
  [
    'currency',
    { amount: exact('12345678901234.123456'), code: 'USD' },
    { amount: '12345678901234.123456', code: 'USD' },
    '{"amount":12345678901234.123456,"code":"USD"}',
  ],
  ['bool', true, true, 'true'],
  ['bool', 'false', false, 'false'],
  ['date', '2024-02-29', '2024-02-29'],
  ['date', '0001-01-01', '0001-01-01'],
  ['date', '9999-12-31', '9999-12-31'],
  ['datetime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z'],
  ['datetime', '2026-01-01t00:00:00z', '2026-01-01T00:00:00.000000Z'],
  ['datetime', '2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000000Z'],
  ['datetime', '2026-01-01T00:00:00.120-00:00', '2026-01-01T00:00:00.120000Z'],
  ['datetime', '2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123456Z'],
  ['datetime', '2026-01-01T00:00:00.0000009Z', '2026-01-01T00:00:00.000000Z'],
  ['datetime', '1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000000Z'],
  ['datetime', '1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000000Z'],
  ['datetime', '9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ['select', 'a b', 'a b', undefined, { options: ['x', 'a b'] }],
  ['select', 'constructor', 'constructor', undefined, { options: ['constructor'] }],
  ['multiselect', ['b', 'a'], ['b', 'a'], '["b","a"]', { options: ['a', 'b'] }],
  ['multiselect', [], [], '[]', { options: ['a'] }],
  ['ref', id, id.toLowerCase()],
  ['refs', [id, id], [id.toLowerCase(), id.toLowerCase()], JSON.stringify([id.toLowerCase(), id.toLowerCase()])],
  ['refs', Array(100).fill(id), Array(100).fill(id.toLowerCase()), JSON.stringify(Array(100).fill(id.toLowerCase()))],
  ['file', '../ä/b.txt', '../ä/b.txt'],
]
for (const [index, [type, sent, kept, read, rules]] of accepted.entries()) {
  test(`values: ${index}: ${type} takes ${JSON.stringify(sent).slice(0, 50)}`, (t) => {
    const field = shape(type, rules)
    const value = parseValue(sent, field, context)
    t.deepEqual(value, kept)
    t.is(JSON.stringify(valueToJson(value, field)), read ?? JSON.stringify(kept))
  })
}

type Refused = readonly [type: FieldType, sent: unknown, message: RegExp, rules?: FieldRules]
const refused: readonly Refused[] = [
  ['string', 5, /must be text, got 5/],
  ['string', ['a'], /must be text/],
  ['string', '😀'.repeat(501), /at most 500 characters long, got 501/],
  ['string', 'a\0b', /NUL/],
  ['string', '\ud800', /lone surrogate/],
  ['text', 'x'.repeat(100_001), /at most 100000 characters/],
  ['string', 'abc', /at least 4 characters long, got 3/, { min_len: 4 }],
  ['string', '😀😀', /at least 4 characters long, got 2/, { min_len: 4 }],
  ['text', 'abc', /at most 2 characters long/, { max_len: 2 }],
  ['string', 'abc', /matching \^\\d\+\$/, { pattern: '^\\d+$' }],
  ['email', '', /valid email/],
  ['email', 'ada', /valid email/],
  ['email', 'a@b', /valid email/],
  ['email', 'a..b@example.com', /valid email/],
  ['email', 'Ada <ada@example.com>', /valid email/],
  ['email', ' ada@example.com', /valid email/],
  ['url', 'example.com', /absolute http or https/],
  ['url', '/path', /absolute http or https/],
  ['url', 'ftp://example.com', /absolute http or https/],
  ['url', 'javascript:alert(1)', /absolute http or https/],
  ['url', 'https:example.com', /absolute http or https/],
  ['url', 'https:///example.com', /absolute http or https/],
  ['url', 'https://', /absolute http or https/],
  ['url', 'https://a b', /absolute http or https/],
  ['url', 'https://example.com/a\nb', /absolute http or https/],
  ['url', ' https://example.com', /absolute http or https/],
  ['url', `https://example.com/${'x'.repeat(2_048)}`, /at most 2048/],
  ['number', 'ten', /14 digits before and 6 after/],
  ['number', '', /14 digits before/],
  ['number', ' 5', /14 digits before/],
  ['number', '0x10', /14 digits before/],
  ['number', '1e3', /14 digits before and 6 after the decimal point, got "1e3"/],
  ['number', '1E-2', /14 digits before/],
  ['currency', '1e3', /14 digits before/],
  ['currency', { amount: '1e3', code: 'EUR' }, /values\.x\.amount must be/],
  ['number', 'Infinity', /14 digits before/],
  ['number', true, /14 digits before/],
  ['number', [], /14 digits before/],
  ['number', {}, /14 digits before/],
  ['number', 1e14, /14 digits before/],
  ['number', '123456789012345', /14 digits before/],
  ['number', '1.1234567', /6 after the decimal point, got "1.1234567"/],
  ['number', exact('1e400'), /got 1e400/],
  ['number', exact('0.00000000000000000001'), /14 digits before/],
  ['number', 4.999, /at least 5, got 4.999/, { min: '5' }],
  ['number', '5.000001', /at most 5, got 5.000001/, { max: '5' }],
  ['currency', '5 EUR', /14 digits before/],
  ['currency', { code: 'EUR' }, /^values\.x\.amount is required$/],
  ['currency', {}, /^values\.x\.amount is required$/],
  ['currency', { amount: 5, kode: 'EUR' }, /^values\.x\.kode is no key of a currency value; did you mean code\?$/],
  ['currency', { amount: 5, currency: 'EUR' }, /^values\.x\.currency is no key of a currency value; did you mean/],
  ['currency', { amount: 5, code: 'eur' }, /values\.x\.code must be an ISO 4217/],
  ['currency', { amount: 5, code: 'HRK' }, /values\.x\.code must be an ISO 4217/],
  ['currency', { amount: 5, code: 978 }, /values\.x\.code must be an ISO 4217/],
  ['currency', [5, 'EUR'], /a number or \{amount, code\}/],
  ['currency', true, /a number or \{amount, code\}/],
  ['currency', { amount: -1, code: 'EUR' }, /at least 0/, { min: '0' }],
  ['bool', 'TRUE', /true or false/],
  ['bool', 1, /true or false/],
  ['bool', '', /true or false/],
  ['date', '2023-02-29', /a date as YYYY-MM-DD/],
  ['date', '1900-02-29', /a date/],
  ['date', '2026-13-01', /a date/],
  ['date', '2026-00-10', /a date/],
  ['date', '2026-04-31', /a date/],
  ['date', '0000-01-01', /a date/],
  ['date', '2026-1-1', /a date/],
  ['date', '2026-01-01T00:00:00Z', /a date/],
  ['date', 20260101, /a date/],
  ['datetime', '2026-01-01', /RFC 3339/],
  ['datetime', '2026-01-01T00:00:00', /RFC 3339/],
  ['datetime', '2026-01-01 00:00:00Z', /RFC 3339/],
  ['datetime', '2026-01-01T00:00Z', /RFC 3339/],
  ['datetime', '2026-01-01T24:00:00Z', /RFC 3339/],
  ['datetime', '2026-01-01T00:60:00Z', /RFC 3339/],
  ['datetime', '2026-01-01T00:00:61Z', /RFC 3339/],
  ['datetime', '2026-01-01T12:00:60Z', /RFC 3339/],
  ['datetime', '2026-01-01T00:00:00+24:00', /RFC 3339/],
  ['datetime', '2026-01-01T00:00:00+0100', /RFC 3339/],
  ['datetime', '2026-02-30T00:00:00Z', /RFC 3339/],
  ['datetime', '0001-01-01T00:00:00+01:00', /RFC 3339/],
  ['datetime', '9999-12-31T23:59:59-01:00', /RFC 3339/],
  ['datetime', 1767225600, /RFC 3339/],
  ['select', 'c', /one of a, b, got "c"/, { options: ['a', 'b'] }],
  ['select', 'A', /one of/, { options: ['a'] }],
  ['select', '', /one of/, { options: ['a'] }],
  ['select', 'toString', /one of/, { options: ['a'] }],
  ['multiselect', 'a', /an array/, { options: ['a'] }],
  ['multiselect', ['a', 'c'], /values\.x\[1\] must be one of/, { options: ['a'] }],
  ['multiselect', ['a', 'a'], /without duplicates, got "a"/, { options: ['a'] }],
  ['multiselect', [5], /values\.x\[0\] must be text/, { options: ['a'] }],
  [
    'multiselect',
    Array.from({ length: 101 }, (_, n) => `o${n}`),
    /at most 100 entries/,
    { options: Array.from({ length: 200 }, (_, n) => `o${n}`) },
  ],
  ['ref', 'not-a-uuid', /the UUID of a record/],
  ['ref', 5, /the UUID of a record/],
  ['refs', [id, 'x'], /values\.x\[1\] must be the UUID/],
  ['refs', id, /an array/],
  ['refs', Array(101).fill(id), /at most 100 entries/],
  ['file', '', /1 to 1024 bytes/],
  ['file', 'ä'.repeat(513), /1 to 1024 bytes, got 1026/],
  ['file', {}, /must be text/],
]
for (const [index, [type, sent, message, rules]] of refused.entries()) {
  test(`values: ${index}: ${type} refuses ${JSON.stringify(sent).slice(0, 50)}`, (t) => {
    const said = complaint(() => parseValue(sent, shape(type, rules), context))
    t.regex(said ?? '', message)
    t.true(said?.startsWith('values.x'), 'the message names the field')
  })
}

test('values: null and undefined are no value for every type and its rules', (t) => {
  for (const type of fieldTypes) {
    t.is(parseValue(null, shape(type, { min_len: 3, min: '5' }), context), null)
    t.is(parseValue(undefined, shape(type), context), null)
  }
})

test('values: naughty strings are stored unchanged', (t) => {
  const naughty = JSON.parse(readFileSync(new URL('../../../fixtures/strings/naughty-strings.json', import.meta.url), 'utf8')) as string[]
  t.true(naughty.length > 250)
  for (const text of naughty) {
    t.is(valueToJson(parseValue(text, shape('string'), context), shape('string')), text)
    t.is(valueToJson(parseValue(text, shape('text'), context), shape('text')), text)
  }
})

test('values: a value of a response can be sent again and is the same value', (t) => {
  for (const [type, sent, , , rules] of accepted) {
    const field = shape(type, rules)
    const value = parseValue(sent, field, context)
    t.deepEqual(parseValue(valueToJson(value, field), field, context), value, `${type} ${JSON.stringify(sent)}`)
  }
})
