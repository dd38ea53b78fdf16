import test from 'ava'
import { makeContractTables } from '#scripts/contract/all-tables.ts'
import { fillTables } from '#scripts/contract/fill-tables.ts'
import { limitSettings, readConfigWith } from '#scripts/contract/limit-settings.ts'
import { markdownTable } from '#scripts/contract/markdown-table.ts'
import { readContractPages, unplacedTables } from '#scripts/contract/pages.ts'

test('contract tables: the pages of docs/contract hold the tables that the code makes', (t) => {
  const tables = makeContractTables()
  for (const { path, text } of readContractPages()) {
    t.is(text, fillTables(text, tables), `${path} differs from the code. Run npm run contract-tables and read the difference`)
  }
})

test('contract tables: every table has a marker on a page', (t) => {
  t.deepEqual(unplacedTables(readContractPages(), makeContractTables()), [], 'write <!-- table: … --> where each belongs')
  t.deepEqual(unplacedTables([{ text: '<!-- table: a -->' }], new Map(Object.entries({ a: '', b: '' }))), ['b'])
})

const tables = new Map([['a', '| A |\n|---|\n| 1 |']])
const filled = '# A\n\n<!-- table: a -->\n\n| A |\n|---|\n| 1 |\n\n<!-- end of table -->\n\nText\n'

test('contract tables: a table is written after its marker, and replaced where there is one', (t) => {
  t.is(fillTables('# A\n\n<!-- table: a -->\n\nText\n', tables), filled)
  t.is(fillTables(filled, tables), filled)
  t.is(fillTables(filled.replace('| 1 |', '| 0 |\n| 2 |'), tables), filled)
  // The table of the page's author, which has no end, stays.
  const own = '<!-- table: a -->\n\n| Own |\n|---|\n'
  t.true(fillTables(own, tables).endsWith('<!-- end of table -->\n\n| Own |\n|---|\n'))
})

test('contract tables: an unknown marker, an end without a marker and text within a table are refused', (t) => {
  t.throws(() => fillTables('<!-- table: b -->\n', tables), { message: 'there is no table b; tables are a' })
  t.throws(() => fillTables('Text\n<!-- end of table -->\n', tables), { message: 'line 2 ends a table that has no marker' })
  t.throws(() => fillTables(filled.replace('| 1 |', 'Text'), tables), { message: /^move this line out of the table a, .*: Text$/ })
})

test('contract tables: a cell is one line, and its vertical bars are escaped', (t) => {
  t.is(markdownTable(['A', 'B'], [['`x | y`', 'two\nlines']]), '| A | B |\n|---|---|\n| `x \\| y` | two lines |')
})

test('contract tables: each variable of a limit sets that limit', (t) => {
  for (const { variable, read } of limitSettings) {
    t.not(read(readConfigWith({})), 7, variable)
    t.is(read(readConfigWith({ [variable]: '7' })), 7, variable)
  }
})
