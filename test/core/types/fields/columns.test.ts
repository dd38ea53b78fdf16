import test from 'ava'
import { type FieldType, type FieldValue, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { shareTable } from '#test/core/types/fields/table.ts'

const open = shareTable(test)

const id = '0192f3a0-0000-7000-8000-00000000000a'
const text = ['', ' a\tb\r\nc ', 'null', '{}', "o'clock", '\\', '😀é\u202e']
const values: Readonly<Record<FieldType, readonly FieldValue[]>> = {
  string: text,
  text,
  email: ['ada@example.com'],
  url: ['https://example.com/ä'],
  select: text,
  file: ['../a"b'],
  number: ['0', '5', '-12.5', '0.000001', '12345678901234.123456', '-99999999999999.999999', '100'],
  currency: [
    { amount: '12345678901234.123456', code: 'JPY' },
    { amount: '0', code: 'EUR' },
    { amount: '-0.1', code: 'XCG' },
  ],
  bool: [true, false],
  date: ['0001-01-01', '2024-02-29', '9999-12-31'],
  datetime: ['0001-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.500000Z', '2026-01-01T00:00:00.000001Z', '9999-12-31T23:59:59.999999Z'],
  multiselect: [[], ['a', 'NULL', '', '{"x"}', 'a,b', '\\', '"']],
  ref: [id],
  refs: [[], [id, id]],
}

for (const type of fieldTypes) {
  test(`columns: ${type} values are read from their columns as they were written`, async (t) => {
    const table = await open()
    await table.keep(type, [...values[type], null])
    t.deepEqual(await table.where(type), [...values[type], null])
  })
}
