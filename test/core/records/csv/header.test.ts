import test from 'ava'
import { matchColumns } from '#shared/core/records/csv/columns.ts'

const [name, total, maker] = [{ key: 'name' }, { key: 'total' }, { key: 'constructor' }]
const fields = [name, total, maker]

test('header: columns that name a field are used in any order; others are ignored', (t) => {
  t.deepEqual(matchColumns(['id', 'total', '', 'created_at', 'name', 'Name', ''], fields), [null, total, null, null, name, null, null])
})

test('header: the key of a field may be the name of an object’s member', (t) => {
  t.deepEqual(matchColumns(['constructor', 'toString', '__proto__'], fields), [maker, null, null])
})

test('header: a field may occur once in the header', (t) => {
  t.throws(() => matchColumns(['name', 'total', 'name'], fields), { message: /more than one column name/ })
  t.notThrows(() => matchColumns(['name', 'id', 'id', 'x', 'x'], fields))
})

test('header: a header without a field is refused', (t) => {
  for (const header of [['id', 'created_at'], [''], ['name;total']]) {
    t.throws(() => matchColumns(header, fields), { message: /must have a header row of which at least one column is the key of a field$/ })
  }
  t.throws(() => matchColumns(['name'], []), { message: /header row/ })
})

test('header: a map’s unknown field suggests only the fields that may be named', (t) => {
  const suggested = (named: typeof fields) => t.throws(() => matchColumns(['A'], fields, new Map([['A', 'totals']]), named))?.message
  t.regex(suggested(fields) ?? '', /did you mean total\?/)
  t.notRegex(suggested([name, maker]) ?? '', /total\b/)
})
