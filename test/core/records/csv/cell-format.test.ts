import test from 'ava'
import { type CellFormat, toExportedCell } from '#shared/core/records/csv/cell-format.ts'
import { parseCell } from '#shared/core/types/field-kinds/value.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { complaint, context, shape } from '#test/core/types/fields/support.ts'

const format = (more: Partial<CellFormat>): CellFormat => ({ timeZone: 'Europe/Berlin', ...more })
const [comma, point] = [format({ decimal: ',' }), format({ decimal: '.' })]
const [ymd, dmy, mdy] = [format({ dates: 'ymd' }), format({ dates: 'dmy' }), format({ dates: 'mdy' })]

const readCell = (type: FieldType, cell: string, of: CellFormat): FieldValue =>
  parseCell(toExportedCell(cell, type, of, context.path), shape(type), context)

const read: readonly (readonly [CellFormat, FieldType, string, FieldValue])[] = [
  [comma, 'number', '1234,56', '1234.56'],
  [comma, 'number', '1.234,56', '1234.56'],
  [comma, 'number', ' -1.234.567 ', '-1234567'],
  [comma, 'number', '1.234', '1234'],
  [comma, 'number', "1'234,5", '1234.5'],
  [comma, 'number', '1’234,5', '1234.5'],
  [comma, 'number', '1 234,5', '1234.5'],
  [comma, 'number', '1\u00a0234\u00a0567,5', '1234567.5'],
  [comma, 'number', '9\u202f234,5', '9234.5'],
  [comma, 'number', '+12,50', '12.5'],
  [comma, 'number', ',5', '0.5'],
  [comma, 'number', '5,', '5'],
  [comma, 'number', '0,123', '0.123'],
  [comma, 'number', '12345678901234,123456', '12345678901234.123456'],
  [comma, 'number', '12.345.678.901.234,123456', '12345678901234.123456'],
  [point, 'number', '1,234.56', '1234.56'],
  [point, 'number', '1234.56', '1234.56'],
  [point, 'number', '1,234', '1234'],
  [comma, 'currency', '1.234,56', { amount: '1234.56', code: 'EUR' }],
  [comma, 'currency', '1.234,56 USD', { amount: '1234.56', code: 'USD' }],
  [comma, 'currency', '1 234,56\u00a0USD', { amount: '1234.56', code: 'USD' }],
  [comma, 'currency', '-1.234,56USD', { amount: '-1234.56', code: 'USD' }],
  [point, 'currency', '1,234.56 USD', { amount: '1234.56', code: 'USD' }],
  [comma, 'string', '1.234,56', '1.234,56'],
  [dmy, 'date', '31.12.2026', '2026-12-31'],
  [dmy, 'date', '1/2/2026', '2026-02-01'],
  [dmy, 'date', ' 01-02-2026 ', '2026-02-01'],
  [dmy, 'date', '2026-02-01', '2026-02-01'],
  [mdy, 'date', '1/2/2026', '2026-01-02'],
  [mdy, 'date', '12.31.2026', '2026-12-31'],
  [ymd, 'date', '2026.2.1', '2026-02-01'],
  [ymd, 'date', '2026/02/01', '2026-02-01'],
  [ymd, 'date', '2024-2-29', '2024-02-29'],
  [dmy, 'string', '31.12.2026', '31.12.2026'],
  [dmy, 'datetime', '31.12.2026 14:30', '2026-12-31T13:30:00.000000Z'],
  [dmy, 'datetime', '1.7.2026 9:05:06.5', '2026-07-01T07:05:06.500000Z'],
  [dmy, 'datetime', '31.12.2026', '2026-12-30T23:00:00.000000Z'],
  [dmy, 'datetime', '31.12.2026 14:30 Z', '2026-12-31T14:30:00.000000Z'],
  [dmy, 'datetime', '31.12.2026T14:30:00-05:00', '2026-12-31T19:30:00.000000Z'],
  [mdy, 'datetime', '7/1/2026, 2:30 PM', '2026-07-01T12:30:00.000000Z'],
  [mdy, 'datetime', '7/1/2026 12:00 a.m.', '2026-06-30T22:00:00.000000Z'],
  [mdy, 'datetime', '7/1/2026 12:00 pm', '2026-07-01T10:00:00.000000Z'],
  [dmy, 'datetime', '2026-12-31T14:30:00.123456Z', '2026-12-31T14:30:00.123456Z'],
  // The clock skips 02:30 on that day, and has 02:30 twice in October.
  [dmy, 'datetime', '29.3.2026 02:30', '2026-03-29T01:30:00.000000Z'],
  [dmy, 'datetime', '25.10.2026 02:30', '2026-10-25T00:30:00.000000Z'],
  [dmy, 'datetime', '31.12.2026 14:30:05.1234567', '2026-12-31T13:30:05.123456Z'],
  [dmy, 'datetime', '31.12.2026 23:59:60Z', '2027-01-01T00:00:00.000000Z'],
  [comma, 'string', '  ', '  '],
  [comma, 'currency', '  ', null],
  [comma, 'bool', '  ', null],
]
for (const [of, type, cell, value] of read) {
  test(`cell format: with ${of.decimal ?? of.dates} a ${type} field reads the cell ${JSON.stringify(cell)}`, (t) => {
    t.deepEqual(readCell(type, cell, of), value)
  })
}

const commaRule = /^values\.x must be a number with a decimal comma, such as 1234,56 or 1\.234,56.*, got "/
const dmyRule = /^values\.x must be a date as day, month and year of four digits, such as 31\.12\.2026.*, got "/
const refused: readonly (readonly [CellFormat, FieldType, string, RegExp])[] = [
  [comma, 'number', '12.5', commaRule],
  [comma, 'number', '0.123', commaRule],
  [comma, 'number', '1,234.56', commaRule],
  [comma, 'number', '1.234.56', commaRule],
  [comma, 'number', "1.234'567", commaRule],
  [comma, 'number', '1234.567', commaRule],
  [comma, 'number', '1,2,3', commaRule],
  [comma, 'number', 'ten', commaRule],
  [comma, 'number', '1e3', commaRule],
  [comma, 'number', '--1', commaRule],
  [comma, 'number', '-', commaRule],
  [comma, 'number', ',', commaRule],
  [comma, 'number', '123456789012345', /14 digits before/],
  [comma, 'number', '1,1234567', /6 after/],
  [point, 'number', '1.234,56', /decimal point, such as 1234\.56 or 1,234\.56, got "1\.234,56"/],
  [comma, 'currency', '12.5 EUR', commaRule],
  [comma, 'currency', '5 XYZ', /ISO 4217/],
  [comma, 'currency', 'EUR', commaRule],
  [dmy, 'date', '31.12.26', dmyRule],
  [dmy, 'date', '12/31/2026', dmyRule],
  [dmy, 'date', '31/12-2026', dmyRule],
  [dmy, 'date', '31.02.2026', dmyRule],
  [dmy, 'date', '0.1.2026', dmyRule],
  [dmy, 'date', '001.1.2026', dmyRule],
  [dmy, 'date', '2026/12/31', dmyRule],
  [dmy, 'date', '31.12.2026 14:30', dmyRule],
  [ymd, 'date', '2025-2-29', /year of four digits, month and day/],
  [ymd, 'date', '26-02-01', /year of four digits, month and day/],
  [mdy, 'date', '31/12/2026', /month, day and year of four digits/],
  [dmy, 'datetime', '31.12.2026 24:00', dmyRule],
  [dmy, 'datetime', '31.12.2026 14:60', dmyRule],
  [dmy, 'datetime', '31.12.2026 23:59:60', dmyRule],
  [dmy, 'datetime', '31.12.2026 13:00 PM', dmyRule],
  [dmy, 'datetime', '31.12.2026 0:00 AM', dmyRule],
  [dmy, 'datetime', '31.12.2026 14', dmyRule],
  [dmy, 'datetime', '31.12.2026 14:30 +25:00', dmyRule],
  [dmy, 'datetime', '31.12.26 14:30', dmyRule],
  [format({}), 'number', '1,5', /must be a number with up to 14/],
  [format({}), 'date', '31.12.2026', /YYYY-MM-DD/],
]
for (const [of, type, cell, message] of refused) {
  test(`cell format: with ${of.decimal ?? of.dates} a ${type} field refuses the cell ${JSON.stringify(cell)}`, (t) => {
    t.regex(complaint(() => readCell(type, cell, of)) ?? '', message)
  })
}

test('cell format: a cell of megabytes is read in a short time', (t) => {
  const long = ['9'.repeat(2_000_000), '1.234'.repeat(400_000), '1 '.repeat(1_000_000), ' '.repeat(2_000_000).concat('x')]
  const started = performance.now()
  for (const cell of long) {
    for (const form of [comma, point, dmy, mdy, ymd]) {
      for (const type of ['number', 'currency', 'date', 'datetime'] as const) complaint(() => readCell(type, cell, form))
    }
  }
  t.true(performance.now() - started < 5_000)
})
