import test from 'ava'
import { maxHeaderLength, maxRowBytes, readCsv } from '#shared/core/records/csv/read.ts'
import { cellsOf, complaintOf, readAll } from '#test/core/records/csv/support.ts'
import { eventually } from '#test/support/eventually.ts'

type Case = readonly [name: string, content: string | Uint8Array, header: readonly string[], rows: readonly (readonly string[])[]]
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

const cases: readonly Case[] = [
  ['commas and LF', 'a,b\n1,2\n', ['a', 'b'], [['1', '2']]],
  ['semicolons and CRLF', 'a;b\r\n1,5;2\r\n', ['a', 'b'], [['1,5', '2']]],
  [
    'tabs and CR',
    'a\tb\r1\t2\r3\t4',
    ['a', 'b'],
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  [
    'line ends of all kinds',
    'a,b\r\n1,2\n3,4\r5,6',
    ['a', 'b'],
    [
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ],
  ],
  ['no line end', 'a,b\n1,2', ['a', 'b'], [['1', '2']]],
  ['a header alone', 'a,b', ['a', 'b'], []],
  ['separators in a quoted header', '"a;b;c",d\n1,2', ['a;b;c', 'd'], [['1', '2']]],
  ['a line break and a doubled quote in a quoted header', '"a\n""x"";y;z",b\n1,2', ['a\n"x";y;z', 'b'], [['1', '2']]],
  ['a quote inside an unquoted header', '5" pipe;b\n1;2', ['5" pipe', 'b'], [['1', '2']]],
  ['blanks around header names', ' a , b\u00a0\n 1 , 2', ['a', 'b'], [[' 1 ', ' 2']]],
  [
    'blank lines',
    '\n\r\na,b\n\n1,2\n\n\n3,4\n\n',
    ['a', 'b'],
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['rows of blank cells', 'a,b\n,\n1,\n \t,\u00a0\n', ['a', 'b'], [['1', '']]],
  ['a short row', 'a,b,c\n1\n', ['a', 'b', 'c'], [['1']]],
  ['blank cells too many', 'a,b\n1,2,,\n', ['a', 'b'], [['1', '2']]],
  ['line breaks in cells', 'a,b\n"x\r\ny","\n"\n', ['a', 'b'], [['x\r\ny', '\n']]],
  ['quotes in cells', 'a,b\n"say ""hi""",5" pipe\n', ['a', 'b'], [['say "hi"', '5" pipe']]],
  ['text behind a closing quote', 'a,b\n"x"y,1\n', ['a', 'b'], [['"x"y', '1']]],
  ['the guard', "a,b,c\n'=1,''=1,'a\n", ['a', 'b', 'c'], [['=1', "'=1", "'a"]]],
  ['names of an object’s own', '__proto__,constructor\n1,2\n', ['__proto__', 'constructor'], [['1', '2']]],
  ['the UTF-8 mark', '\ufeffa,b\n1,\ufeff2\n', ['a', 'b'], [['1', '\ufeff2']]],
  ['the mark before a quote', '\ufeff"a",b\n1,2\n', ['a', 'b'], [['1', '2']]],
  ['UTF-16, little end first', utf16('ä;b\r\n1;😀\r\n'), ['ä', 'b'], [['1', '😀']]],
  ['UTF-16, big end first', utf16('ä;b\r\n1;😀\r\n').swap16(), ['ä', 'b'], [['1', '😀']]],
]
for (const [name, content, header, rows] of cases) {
  for (const size of [64 * 1024, 1, 3]) {
    test(`read: ${name}, in chunks of ${size}`, async (t) => {
      const file = await readAll(content, size)
      t.deepEqual(file.header, header)
      t.deepEqual(cellsOf(file), rows)
    })
  }
}

const refused: readonly (readonly [name: string, content: string | Uint8Array, message: RegExp])[] = [
  ['nothing', '', /blank file/],
  ['blank lines', '\r\n\n\n', /blank file/],
  ['the mark alone', '\ufeff', /blank file/],
  ['Latin-1', Buffer.from('a,b\nä,1\n', 'latin1'), /UTF-8/],
  ['UTF-8 cut short', Buffer.from('a,b\n1,ä').subarray(0, -1), /UTF-8/],
  ['a surrogate in UTF-16', utf16('a,b\n1,\ud800x'), /utf-16/i],
  ['UTF-16 without a mark', utf16('a,b\n').subarray(2), /NUL/],
  ['a NUL character', 'a,b\n1,\0\n', /NUL/],
  ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0]), /gzip/],
  ['a workbook', Buffer.from('PK\u0003\u0004xl/'), /workbook or a zip/],
  ['a quote never closed', 'a,b\n1,2\n"3,4\n5,6\n', /row 2 has a quoted cell that is never closed/],
  ['a header never closed', '"a,b\n1,2\n', /header row has a quoted cell that is never closed/],
  ['a header too long', `a,${'x'.repeat(maxHeaderLength)}`.repeat(2), /header row of at most/],
  ['a cell too long', `a,b\n1,2\n3,${'x'.repeat(maxRowBytes + 1)}\n`, /row 2 is longer than 4000000 bytes/],
]
for (const [name, content, message] of refused) {
  test(`read: refused: ${name}`, async (t) => {
    t.regex((await complaintOf(content)) ?? '', message)
    if (content.length < 1_000) t.regex((await complaintOf(content, 1)) ?? '', message)
  })
}

test('read: a row with more cells than the header is reported and skipped, and the rows around it are read', async (t) => {
  const { rows } = await readAll('a,b\n1,2\n3,4,5\n\n6,7\n')
  t.deepEqual(rows, [
    { row: 1, cells: ['1', '2'] },
    { row: 2, error: 'has 3 cells where the header has 2' },
    { row: 3, cells: ['6', '7'] },
  ])
})

/** An endless file that counts the chunks taken of it. */
function endless(line: string) {
  const taken = { chunks: 0, let: false }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('a,b\n')
      for (;;) {
        taken.chunks += 1
        yield Buffer.from(line.repeat(1_000))
      }
    } finally {
      taken.let = true
    }
  }
  return { taken, chunks: chunks() }
}

test('read: rows are read on demand, and a reader that stops releases the source', async (t) => {
  const { taken, chunks } = endless('1,2\n')
  const { rows } = await readCsv(chunks)
  for await (const { row } of rows) {
    if (row % 10_000 === 0) t.true(taken.chunks <= row / 1_000 + 50, `${taken.chunks} chunks taken for ${row} rows`)
    if (row === 50_000) break
  }
  await eventually(() => taken.let)
  t.true(taken.let)
})

test('read: a closed file releases the source', async (t) => {
  const { taken, chunks } = endless('1,2\n')
  const file = await readCsv(chunks)
  file.close()
  await eventually(() => taken.let)
  t.true(taken.let)
})

test('read: an endless cell ends at the limit', async (t) => {
  const { taken, chunks } = endless('"xxxxxxxxxx')
  const read = async () => void (await Array.fromAsync((await readCsv(chunks)).rows))
  await t.throwsAsync(read, { message: /row 1 is longer/ })
  await eventually(() => taken.let)
  t.true(taken.chunks * 11_000 < 2 * maxRowBytes)
})

test('read: an error of the source is thrown to the reader', async (t) => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a,b\n1,2\n')
    throw new Error('the line went dead')
  }
  const read = async () => void (await Array.fromAsync((await readCsv(broken())).rows))
  await t.throwsAsync(read, { message: 'the line went dead' })
})
