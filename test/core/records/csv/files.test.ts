import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { cellsOf, complaintOf, readAll } from '#test/core/records/csv/support.ts'

interface Facts {
  readonly header_columns: number
  readonly data_rows: number
  readonly cells_with_newline: number
}

const folder = new URL('../../../fixtures/csv/', import.meta.url)
const { files } = JSON.parse(readFileSync(new URL('facts.json', folder), 'utf8')) as { files: Readonly<Record<string, Facts>> }

/** Files that are not readable CSV, by the message. */
const refused: Readonly<Record<string, RegExp>> = {
  'edge/commons--csv-141.csv': /row 2 has a quoted cell that is never closed/,
  'edge/csvparser--latin.csv': /must be UTF-8 text/,
  'edge/frictionless--empty.csv': /blank file/,
  'edge/frictionless--implicit-gz.csv': /gzip/,
}

/** Rows with more cells than the header. */
const overlong: Readonly<Record<string, readonly number[]>> = {
  'edge/csvparser--strict-false-more-columns.csv': [2],
  'edge/frictionless--defective-rows.csv': [2],
}

for (const [name, facts] of Object.entries(files)) {
  const content = readFileSync(new URL(name, folder))
  for (const size of content.length < 20_000 ? [64 * 1024, 7, 1] : [64 * 1024, 1_000]) {
    test(`files: ${name} in chunks of ${size}`, async (t) => {
      const complaint = refused[name]
      if (complaint) return t.regex((await complaintOf(content, size)) ?? '', complaint)
      const file = await readAll(content, size)
      t.is(file.header.length, facts.header_columns)
      t.is(file.rows.length, facts.data_rows)
      t.deepEqual(
        file.rows.map(({ row }) => row),
        file.rows.map((_, index) => index + 1),
      )
      t.deepEqual(
        file.rows.flatMap((row) => ('error' in row ? [row.row] : [])),
        overlong[name] ?? [],
      )
      const broken = cellsOf(file).filter((cells) => cells.some((cell) => /[\r\n]/.test(cell)))
      t.is(broken.length, facts.cells_with_newline)
    })
  }
}

for (const name of Object.keys(files)) {
  const expected = new URL(name.replace(/csv$/, 'json'), folder)
  if (!existsSync(expected)) continue
  test(`files: ${name} gives the rows that its own suite expects`, async (t) => {
    const { header, rows } = await readAll(readFileSync(new URL(name, folder)))
    const records = rows.map((row) => Object.fromEntries(header.map((key, index) => [key, 'cells' in row ? row.cells[index] : row.error])))
    t.deepEqual(records, JSON.parse(readFileSync(expected, 'utf8')))
  })
}
