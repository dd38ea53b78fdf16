import test from 'ava'
import { type ResultField, toFieldValue } from '#shared/platform/formula/field-result.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { evaluate } from './evaluate.ts'

const id = '0198f1a2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'

const cases: readonly (readonly [source: string, field: ResultField, value: FieldValue])[] = [
  ['1/3', { type: 'number' }, '0.333333'],
  ['2/3', { type: 'number' }, '0.666667'],
  ['0.0000005', { type: 'number' }, '0.000001'],
  ['-0.0000005', { type: 'number' }, '-0.000001'],
  ['0.0000015/3', { type: 'number' }, '0.000001'],
  ['-0.0000004', { type: 'number' }, '0'],
  ['1/3*3', { type: 'number' }, '1'],
  ['99999999999999.999999', { type: 'number' }, '99999999999999.999999'],
  ['12345678901234.123456', { type: 'number' }, '12345678901234.123456'],
  ['99999999999999.9999995', { type: 'number' }, null],
  ['10^14', { type: 'number' }, null],
  ['-10^14', { type: 'number' }, null],
  ['2.675', { type: 'currency', scale: 2 }, '2.68'],
  ['-2.675', { type: 'currency', scale: 2 }, '-2.68'],
  ['"12.50"', { type: 'number' }, '12.5'],
  ['"twelve"', { type: 'number' }, null],
  ['"1,250"', { type: 'number' }, null],
  ['TRUE', { type: 'number' }, null],
  ['TODAY()', { type: 'number' }, null],
  ['1/0', { type: 'number' }, null],
  ['NA()', { type: 'text' }, null],
  ['TRUE', { type: 'bool' }, true],
  ['1>2', { type: 'bool' }, false],
  ['"false"', { type: 'bool' }, false],
  ['1', { type: 'bool' }, null],
  ['"yes"', { type: 'bool' }, null],
  ['TODAY()', { type: 'date' }, '2026-03-14'],
  ['NOW()', { type: 'date' }, '2026-03-14'],
  ['"2026-05-01"', { type: 'date' }, '2026-05-01'],
  ['"2026-02-30"', { type: 'date' }, null],
  ['"5/1/2026"', { type: 'date' }, null],
  ['46000', { type: 'date' }, null],
  ['NOW()', { type: 'datetime' }, '2026-03-14T09:26:53.000000Z'],
  ['TODAY()', { type: 'datetime' }, '2026-03-14T00:00:00.000000Z'],
  ['NOW()+TIME(1,0,0)', { type: 'datetime' }, '2026-03-14T10:26:53.000000Z'],
  ['"2026-05-01T12:00:00+02:00"', { type: 'datetime' }, '2026-05-01T10:00:00.000000Z'],
  ['REPT("x",500)', { type: 'string' }, 'x'.repeat(500)],
  ['REPT("x",501)', { type: 'string' }, null],
  ['REPT(UNICHAR(128512),500)', { type: 'string' }, '😀'.repeat(500)],
  ['REPT("x",100000)', { type: 'text' }, 'x'.repeat(100_000)],
  ['""', { type: 'string' }, ''],
  ['1/3', { type: 'string' }, '0.333333333333333'],
  ['12345678901234.123456', { type: 'string' }, '12345678901234.123456'],
  ['1=1', { type: 'string' }, 'TRUE'],
  ['DATE(2026,1,31)', { type: 'string' }, '2026-01-31'],
  ['"paid"', { type: 'select', options: ['open', 'paid'] }, 'paid'],
  ['"Paid"', { type: 'select', options: ['open', 'paid'] }, null],
  ['2', { type: 'select', options: ['1', '2'] }, '2'],
  ['"a"', { type: 'multiselect', options: ['a', 'b'] }, ['a']],
  ['"c"', { type: 'multiselect', options: ['a', 'b'] }, null],
  [`"${id}"`, { type: 'ref' }, id],
  ['"no id"', { type: 'ref' }, null],
  [`"${id}"`, { type: 'refs' }, [id]],
  [`UPPER("${id}")`, { type: 'ref' }, id],
  ['"a@b.example"', { type: 'email', fits: (value) => value === 'a@b.example' }, 'a@b.example'],
  ['"nobody"', { type: 'email', fits: (value) => value === 'a@b.example' }, null],
]

test('result: a result becomes a value of its field, and empty when it does not fit', (t) => {
  for (const [source, field, value] of cases) t.deepEqual(toFieldValue(evaluate(source), field), value, `${source} → ${field.type}`)
})

test('result: lists of a record fit fields that hold lists', (t) => {
  const tags = { tags: ['multiselect', ['a', 'b'], ['a', 'b', 'c']] } as const
  t.deepEqual(toFieldValue(evaluate('tags', tags), { type: 'multiselect', options: ['a', 'b'] }), ['a', 'b'])
  t.is(toFieldValue(evaluate('tags', tags), { type: 'multiselect', options: ['a'] }), null)
  t.is(toFieldValue(evaluate('tags', tags), { type: 'string' }), 'a, b')
  t.is(toFieldValue(evaluate('tags', tags), { type: 'ref' }), null)
  const twice = { ids: ['refs', [id, id]] } as const
  t.deepEqual(toFieldValue(evaluate('ids', twice), { type: 'refs' }), [id, id])
  t.is(toFieldValue(evaluate('ids', twice), { type: 'multiselect', options: [id] }), null)
})

test('result: an empty result is empty in every field', (t) => {
  for (const type of ['number', 'string', 'bool', 'date', 'select', 'refs'] as const) {
    t.is(toFieldValue(evaluate('x', { x: ['string', null] }), { type }), null)
  }
})
