import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test from 'ava'
import { callWith } from '#test/bin/call.ts'
import { fileOf, importingFor, recordsOf, typesOf } from '#test/bin/importing.ts'
import { deleteTypeAfterFirstChunk } from '#test/bin/rows.ts'
import type { World } from '#test/support/world.ts'

const importing = importingFor(test)
const fixtures = new URL('../fixtures/csv/', import.meta.url)
const { files: facts } = JSON.parse(readFileSync(new URL('facts.json', fixtures), 'utf8')) as {
  files: Readonly<Record<string, { readonly data_rows: number }>>
}
const fixture = (name: string): string => new URL(name, fixtures).pathname

/** An export in the order of creation, without the columns that every record has. */
async function cellsOf(w: World, type: string): Promise<string> {
  const { text, status } = await w.org.owner.get(`${w.org.path}/records/${type}/export?sort=created_at&dir=asc`)
  return `${status}\n${text.replaceAll(/^(?:id,created_at|[0-9a-f-]{36},[^,]+),/gm, '')}`
}

for (const name of ['northwind-customers', 'chinook-invoiceline', 'country-codes', 'acm-journals']) {
  test(`import: ${name}.csv becomes a type with all its rows, and its export imported again exports the same cells`, async (t) => {
    const { w, kontorImport } = await importing()
    const rows = facts[`real/${name}.csv`]?.data_rows
    const first = await kontorImport(fixture(`real/${name}.csv`), '--json')
    t.is(first.code, 0, first.err)
    t.like(first.json, { type: { created: true }, rows, created: rows, failed: 0, errors: [] })
    const type: string = first.json.type.key
    t.is((await recordsOf(w, type)).total, rows)
    const { text } = await w.org.owner.get(`${w.org.path}/records/${type}/export?sort=created_at&dir=asc`)
    const again = await kontorImport(fileOf('again.csv', text), '--json')
    t.like(again.json, { type: { key: 'again', created: true }, created: rows, failed: 0 })
    t.is(await cellsOf(w, 'again'), await cellsOf(w, type))
  })
}

test('import: rows that fail are reported by their number in the whole file, in every chunk', async (t) => {
  const { w, kontorImport } = await importing()
  await w.org.owner.post(`${w.org.path}/types`, { key: 'codes', label: 'Codes' })
  await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'codes', key: 'code', label: 'code', type: 'number', unique: true })
  const lines = Array.from({ length: 1_200 }, (_, index) =>
    index === 699 ? 'x,1' : index === 899 ? '1,2,3' : index === 1_099 ? '5,0' : `${index},`,
  )
  const { code, json } = await kontorImport(fileOf('codes.csv', `code,note\n${lines.join('\n')}\n`), '--json')
  t.is(code, 1)
  t.like(json, { rows: 1_200, created: 1_197, failed: 3 })
  t.deepEqual(json.errors, [
    {
      row: 700,
      column: 'code',
      message: 'values.code must be a number with up to 14 digits before and 6 after the decimal point, got "x"',
    },
    { row: 900, message: 'has 3 cells where the header has 2' },
    { row: 1_100, column: 'code', message: 'values.code already has this value in another record' },
  ])
})

test('import: a row without any value is no row, also of one column', async (t) => {
  const { w, kontorImport } = await importing()
  const { json } = await kontorImport(fileOf('blank.csv', 'name\na\n""\nb\n'), '--json')
  t.like(json, { rows: 2, created: 2, ignored_columns: [] })
  const { records } = await recordsOf(w, 'blank')
  t.deepEqual(
    records.map(({ values }: { values: { name: unknown } }) => values.name),
    ['a', 'b'],
  )
})

test('import: the printed query finds records', async (t) => {
  const { w, environment, kontorImport } = await importing()
  const { json, out } = { ...(await kontorImport(fileOf('it.csv', "name,price\nO'Neill & Co,1\nb,2\n"), '--json')) }
  t.is(out.trim(), JSON.stringify(json))
  const [, header, address] = /^curl -H "Authorization: Bearer (\S+)" '([^']+)'$/.exec(json.example) ?? []
  t.is(header, '$KONTOR_KEY')
  const found = await w.visitor.as(environment.KONTOR_KEY).get((address ?? '').replace(/^http:\/\/[^/]+/, ''))
  t.is(found.data.total, 1, json.example)
  t.is(found.data.records[0].values.name, "O'Neill & Co")
})

test('import: the bootstrap file names the API, and its key is sent to no other server', async (t) => {
  const { w, environment } = await importing()
  const root = environment.KONTOR_URL
  const bootstrap = { base_url: `${root}/v1`, org_id: w.org.id, api_key: environment.KONTOR_KEY }
  writeFileSync(join(w.config.dataDir, 'bootstrap.json'), JSON.stringify(bootstrap))
  const file = fileOf('things.csv', 'name\na\n')
  const { code, out, err } = await callWith({ DATA_DIR: w.config.dataDir }, 'import', file)
  t.is(code, 0, err)
  t.regex(out, new RegExp(`\n1 of 1 rows imported in .* s. Query them:\n  curl -H "Authorization: Bearer ${environment.KONTOR_KEY}" '`))
  const elsewhere = await callWith({ DATA_DIR: w.config.dataDir }, 'import', file, '--url', root)
  t.is(elsewhere.code, 2)
  t.regex(elsewhere.err, /^Name the API and a key: /)
})

const refused: readonly (readonly [name: string, args: (file: string) => readonly string[], code: number, message: RegExp])[] = [
  ['a file that is not there', () => ['/nowhere/at/all.csv'], 2, /^file cannot be read: ENOENT/],
  ['a folder', () => [tmpdir()], 2, /^file must be a file on a disk/],
  ['a blank file', () => [fileOf('blank.csv', '')], 2, /^file must have a header row/],
  ['a quote that nothing closes', () => [fileOf('open.csv', 'a,b\n1,"2\n3,4\n')], 2, /^file: row 1 has a quoted cell that is never closed/],
  ['an archive', () => [fixture('edge/frictionless--implicit-gz.csv')], 2, /^file must be CSV text, got a gzip archive/],
  ['a bad key for the type', (file) => [file, '--type', 'No Key'], 2, /^key must be 2 to 32 lowercase letters/],
  ['a wrong access key', (file) => [file, '--key', 'kt_wrong'], 1, /^The access key or session token is unknown/],
  ['an address of nothing', (file) => [file, '--url', 'http://127.0.0.1:9'], 1, /^http:\/\/127.0.0.1:9 cannot be reached/],
  ['no address', (file) => [file, '--url', 'localhost'], 2, /^--url must be an address such as http/],
  [
    'too much',
    (file) => [file, ...'type and some words more than there are options of the command import'.split(' ')],
    2,
    /^unexpected argument: /m,
  ],
]

test('import: a refused import prints the reason and creates nothing', async (t) => {
  const { w, kontorImport } = await importing()
  const before = await typesOf(w)
  const good = fileOf('good.csv', 'name\na\n')
  for (const [name, args, code, message] of refused) {
    const called = await kontorImport(...args(good))
    t.is(called.code, code, `${name}: ${called.err}`)
    t.regex(called.err, message, name)
    t.notRegex(called.out, /imported/, name)
  }
  t.deepEqual(await typesOf(w), before)
})

test('import: a key without types:create gets the reason', async (t) => {
  const { kontorImport } = await importing([{ effect: 'allow', actions: ['types:read'] }])
  const { code, json } = await kontorImport(fileOf('x.csv', 'name\na\n'), '--json')
  t.is(code, 1)
  t.deepEqual(json, { error: { code: 'FORBIDDEN', message: 'Needs types:create' } })
})

test('import: an import that fails half-way prints how many rows were imported', async (t) => {
  const { w, kontorImport } = await importing()
  const rows = Array.from({ length: 600 }, (_, index) => `row ${index + 1}`)
  await deleteTypeAfterFirstChunk(w.db, w.org.id, 'short')
  const { code, json } = await kontorImport(fileOf('short.csv', `name\n${rows.join('\n')}\n`), '--json')
  t.is(code, 1)
  t.deepEqual(json, {
    error: { code: 'NOT_FOUND', message: 'There is no record type short; POST …/types makes one; 500 of 600 rows are imported' },
  })
})

/** Files of the edge folder that are not readable CSV. */
const unreadable = ['commons--csv-141', 'csvparser--latin', 'frictionless--empty', 'frictionless--implicit-gz']

test('import: every odd file gives its rows or a reason', async (t) => {
  const { kontorImport } = await importing()
  for (const [path, { data_rows }] of Object.entries(facts)) {
    if (!path.startsWith('edge/')) continue
    const { code, json } = await kontorImport(
      fixture(path),
      '--json',
      '--type',
      `t_${basename(path, '.csv')
        .replaceAll(/[^a-z0-9]+/g, '_')
        .slice(-29)}`,
    )
    if (unreadable.includes(basename(path, '.csv'))) {
      t.is(code, 2, path)
      t.is(json.error.code, 'VALIDATION_ERROR', path)
    } else {
      t.is(json.created + json.failed, data_rows, path)
      t.is(json.failed, code === 0 ? 0 : json.errors.length, path)
    }
  }
})
