import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { escapeCell, unescapeCell, writeCsv } from '#shared/core/records/csv/write.ts'
import { cellsOf, readAll } from '#test/core/records/csv/support.ts'

const strings = (name: string): readonly string[] =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/strings/${name}.json`, import.meta.url), 'utf8')) as string[]

const left = [
  '',
  'a',
  "'",
  "'a",
  "''",
  'a=1',
  '-5',
  '-12.5',
  '+5',
  '-.5',
  '-5.',
  '-1e5',
  '+1.5E-10',
  '12',
  '+91 98765 43210',
  '+49 123',
  '+1 (514) 721-4711',
  '+49.30.123456',
  '+49 30/123456',
  "'-12.5",
  "'+49 123 456",
]
const guarded = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  '+',
  '-',
  '@SUM(A1)',
  '@',
  '\t=1',
  '\r=1',
  '-2+3',
  '+1-2',
  '+A1',
  '-a',
  '--5',
  '-5 EUR',
  '+49 123 x',
  '+1 234 567 890 123 456',
  "'=1",
  "''=1",
  "'\t",
  '-12.5\n',
  '+49 123\n=1',
  '\uff1d1+1',
  '\uff0b1',
  '\uff0da',
  '\uff20SUM(A1)',
  ' =1',
  '\n=1',
  '\u00a0@a',
  ' \t\n\u00a0\u3000\uff1d1',
  ' -5',
]

for (const cell of left) test(`csv guard: left as it is: ${JSON.stringify(cell)}`, (t) => t.is(escapeCell(cell), cell))
for (const cell of guarded) test(`csv guard: guarded: ${JSON.stringify(cell)}`, (t) => t.is(escapeCell(cell), `'${cell}`))

test('csv guard: an apostrophe is removed once, and only from a cell that the guard would have changed', (t) => {
  for (const cell of guarded) t.is(unescapeCell(`'${cell}`), cell)
  for (const cell of left) t.is(unescapeCell(cell), cell)
})

test('csv guard: spreadsheet attacks are guarded and restored', (t) => {
  for (const attack of strings('csv-injection')) {
    const cell = escapeCell(attack)
    t.notRegex(cell, /^[=+\-@\t\r]/)
    t.is(unescapeCell(cell), attack)
  }
})

/** Text with many guards, quotes, separators and line ends. */
const tricky = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
  fc.string({
    unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '"', ',', ';', ' ', '1', '2', '.', 'e', '(', '\ufeff', 'a', '😀'),
  }),
)

test('csv guard: any text survives guard and unguard, and no guarded cell starts a formula', (t) => {
  fc.assert(
    fc.property(tricky, (text) => {
      const cell = escapeCell(text)
      return unescapeCell(cell) === text && (cell === text || cell.startsWith("'"))
    }),
    { numRuns: 1_000_000 },
  )
  t.pass()
})

test('csv guard: any table of text survives export and import', async (t) => {
  const table = fc.array(fc.tuple(tricky, tricky, tricky), { minLength: 1, maxLength: 20 })
  const survives = fc.asyncProperty(table, fc.integer({ min: 1, max: 200 }), async (rows, size) => {
    const text = writeCsv([['id', 'one', 'two'], ...rows])
    // A row of blanks is no row, but a guarded blank is a value; a row of an export has an id.
    const filled = rows.filter((cells) => cells.some((cell) => escapeCell(cell).trim() !== ''))
    t.deepEqual(cellsOf(await readAll(text, size)), filled)
  })
  await fc.assert(survives, { numRuns: 3_000 })
})

test('csv guard: naughty strings survive export and import', async (t) => {
  const rows = strings('naughty-strings').map((text, index) => [String(index), text])
  t.deepEqual(cellsOf(await readAll(writeCsv([['id', 'text'], ...rows]))), rows)
})

test('csv guard: rows end in CRLF, and only cells that need quotes have them', (t) => {
  t.is(
    writeCsv([
      ['id', 'a b'],
      ['1', 'say "hi"'],
      ['2', 'x\ny'],
      ['3', 'a,b'],
      ['4', ''],
    ]),
    'id,a b\r\n1,"say ""hi"""\r\n2,"x\ny"\r\n3,"a,b"\r\n4,\r\n',
  )
  t.is(writeCsv([]), '')
})
