import test from 'ava'
import { isBlank, isSameValue, parseCell, valueToCell } from '#shared/core/types/field-kinds/value.ts'
import type { FieldRules } from '#shared/core/types/fields/field.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { complaint, context, shape } from '#test/core/types/fields/support.ts'

const id = '0192f3a0-0000-7000-8000-00000000000a'
const options: FieldRules = { options: ['a', 'b c', 'd|e', '[f'] }

const read: readonly (readonly [FieldType, string, FieldValue, FieldRules?])[] = [
  ['string', '', null],
  ['string', ' a ', ' a '],
  ['text', 'a\nb', 'a\nb'],
  ['email', ' ada@example.com ', 'ada@example.com'],
  ['number', '', null],
  ['number', '  ', null],
  ['number', ' 12.50 ', '12.5'],
  ['bool', 'TRUE', true],
  ['bool', 'false', false],
  ...['yes', 'Ja', ' OUI ', 'sí', 'Si', 'si\u0301'].map((cell): readonly [FieldType, string, FieldValue] => ['bool', cell, true]),
  ...['no', 'NEIN', 'non'].map((cell): readonly [FieldType, string, FieldValue] => ['bool', cell, false]),
  ['date', '2026-01-31', '2026-01-31'],
  ['currency', '12.50 EUR', { amount: '12.5', code: 'EUR' }],
  ['currency', '-12.50\u00a0USD', { amount: '-12.5', code: 'USD' }],
  ['currency', '12.50USD', { amount: '12.5', code: 'USD' }],
  ['currency', '12.50', { amount: '12.5', code: 'EUR' }],
  ['currency', '12.50 USD', { amount: '12.5', code: 'JPY' }, { unit: 'JPY' }],
  ['select', 'b c', 'b c', options],
  ['multiselect', 'a|b c', ['a', 'b c'], options],
  ['multiselect', ' a | b c |', ['a', 'b c'], options],
  ['multiselect', '["a","d|e"]', ['a', 'd|e'], options],
  ['multiselect', '[f', ['[f'], options],
  ['multiselect', '[]', [], options],
  ['multiselect', '', null, options],
  ['ref', ` ${id} `, id],
  ['refs', `${id}|${id.toUpperCase()}`, [id, id]],
  ['refs', JSON.stringify([id]), [id]],
  ['file', 'a b', 'a b'],
]
for (const [type, cell, value, rules] of read) {
  test(`cells: ${type} reads the cell ${JSON.stringify(cell)}`, (t) => {
    t.deepEqual(parseCell(cell, shape(type, rules), context), value)
  })
}

const refused: readonly (readonly [FieldType, string, RegExp, FieldRules?])[] = [
  ['number', '1,5', /must be a number/],
  ['bool', 'yep', /true or false/],
  ['bool', '1', /true or false/],
  ['bool', 'nó', /true or false/],
  ['currency', 'EUR 5', /must be a number/],
  ['currency', '5 XYZ', /ISO 4217/],
  ['multiselect', 'a|x', /\[1\] must be one of/, options],
  ['multiselect', '{"a":1}', /must be one of/, options],
  ['refs', '[1]', /must be the UUID/],
]
for (const [type, cell, message, rules] of refused) {
  test(`cells: ${type} refuses the cell ${JSON.stringify(cell)}`, (t) => {
    t.regex(complaint(() => parseCell(cell, shape(type, rules), context)) ?? '', message)
  })
}

const written: readonly (readonly [FieldType, FieldValue, string, FieldRules?])[] = [
  ['string', null, ''],
  ['string', '=1', '=1'],
  ['number', '-12.5', '-12.5'],
  ['number', '12345678901234.123456', '12345678901234.123456'],
  ['currency', { amount: '12.5', code: 'EUR' }, '12.5 EUR'],
  ['bool', false, 'false'],
  ['datetime', '2026-01-01T00:00:00.500000Z', '2026-01-01T00:00:00.500000Z'],
  ['multiselect', ['a', 'd|e'], '["a","d|e"]', options],
  ['multiselect', [], '[]', options],
  ['refs', [id], `["${id}"]`],
]
for (const [type, value, cell, rules] of written) {
  test(`cells: ${type} writes the cell ${JSON.stringify(cell)}, and reads it again`, (t) => {
    t.is(valueToCell(value, shape(type, rules)), cell)
    t.deepEqual(parseCell(cell, shape(type, rules), context), value)
  })
}

test('cells: the same value can be sent again', (t) => {
  const same: readonly (readonly [FieldValue, FieldValue])[] = [
    [null, null],
    ['a', 'a'],
    [true, true],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [[], []],
    [
      { amount: '1', code: 'EUR' },
      { code: 'EUR', amount: '1' },
    ],
  ]
  const different: readonly (readonly [FieldValue, FieldValue])[] = [
    [null, ''],
    ['a', 'A'],
    [true, 'true'],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
    [['a'], ['a', 'b']],
    [[], null],
    [
      { amount: '1', code: 'EUR' },
      { amount: '1', code: 'USD' },
    ],
    [{ amount: '1', code: 'EUR' }, '1'],
    [{ amount: '1', code: 'EUR' }, []],
  ]
  for (const [one, other] of same) t.true(isSameValue(one, other), JSON.stringify([one, other]))
  for (const [one, other] of different) t.false(isSameValue(one, other) || isSameValue(other, one), JSON.stringify([one, other]))
})

test('cells: a required field accepts empty text and an empty list', (t) => {
  t.deepEqual(
    [null, '', [], ' ', '0', false, ['a']].map((value) => isBlank(value)),
    [true, true, true, false, false, false, false],
  )
})
