import test from 'ava'
import { fieldsOf, fileOf, importingFor, recordsOf, typesOf } from '#test/bin/importing.ts'
import type { World } from '#test/support/world.ts'

const importing = importingFor(test)

/** A type of goods with a unique number and a record. */
async function goods(w: World): Promise<void> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'goods', label: 'Goods' })
  for (const [key, more] of Object.entries({ sku: { type: 'string', unique: true }, price: { type: 'number' }, since: { type: 'date' } })) {
    await owner.post(`${path}/fields`, { entity_type: 'goods', key, label: key, ...more })
  }
  await owner.post(`${path}/records/goods`, { values: { sku: 'A', price: 1 } })
}

const valuesOf = async (w: World, type = 'goods') =>
  (await recordsOf(w, type)).records.map(({ values }: { values: object }) => ({ ...values }))

const german = 'Nummer;Preis;Seit;Notiz\nA;1.234,5;31.12.2026;x\nB;2,5;1.2.2026;y\n'
const options = [
  '--upsert-by',
  'sku',
  '--map',
  '{"Nummer":"sku","Preis":"price","Seit":"since","Notiz":null}',
  '--decimal',
  ',',
  '--dates',
  'dmy',
]

test('import parameters: a file in German form changes and creates records, and again leaves them unchanged', async (t) => {
  const { w, kontorImport } = await importing()
  await goods(w)
  const first = await kontorImport(fileOf('liste.csv', german), '--type', 'goods', ...options, '--json')
  t.like(first.json, { created: 1, updated: 1, unchanged: 0, failed: 0, errors: [], ignored_columns: ['Notiz'] }, first.err)
  t.deepEqual(await valuesOf(w), [
    { sku: 'A', price: 1234.5, since: '2026-12-31' },
    { sku: 'B', price: 2.5, since: '2026-02-01' },
  ])
  const again = await kontorImport(fileOf('liste.csv', german), '--type', 'goods', ...options)
  t.is(again.code, 0, again.err)
  t.regex(again.out, /\n2 of 2 rows imported in [\d.]+ s: 0 created, 0 updated, 2 unchanged\. Query them:\n/)
})

test('import parameters: a dry run lets the API judge the rows and writes nothing', async (t) => {
  const { w, kontorImport } = await importing()
  await goods(w)
  const file = fileOf('liste.csv', `${german}C;2.5;;\n`)
  const { code, out } = await kontorImport(file, '--type', 'goods', ...options, '--dry-run')
  t.is(code, 1)
  t.regex(out, /row 3, column Preis: values\.price must be a number with a decimal comma/)
  t.regex(out, /\n2 of 3 rows would be imported: 1 created, 1 updated, 0 unchanged, 1 failed\.\n$/)
  const { json } = await kontorImport(file, '--type', 'goods', ...options, '--dry-run', '--json')
  t.like(json, { dry_run: true, created: 1, updated: 1, unchanged: 0, failed: 1 })
  t.deepEqual(await valuesOf(w), [{ sku: 'A', price: 1, since: null }])
})

test('import parameters: a new type gets its fields by the form of the file, and a unique one for the key', async (t) => {
  const { w, kontorImport } = await importing()
  const args = ['--upsert-by', 'sku', '--map', '{"Nummer":"sku"}', '--decimal', ',', '--dates', 'dmy', '--json']
  const dry = await kontorImport(fileOf('neu.csv', german), ...args, '--dry-run')
  t.like(dry.json, { dry_run: true, type: { key: 'neu', created: true } }, dry.err)
  t.false((await typesOf(w)).includes('neu'))
  const { json } = await kontorImport(fileOf('neu.csv', german), ...args)
  t.like(json, { created: 2, updated: 0, unchanged: 0, failed: 0 })
  const fields = (await fieldsOf(w, 'neu')).map(({ key, type, unique }: { key: string; type: string; unique: boolean }) => [
    key,
    type,
    unique,
  ])
  t.deepEqual(fields, [
    ['sku', 'string', true],
    ['preis', 'number', false],
    ['seit', 'date', false],
    ['notiz', 'string', false],
  ])
})

const refused: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['--map', '{"Nr":"sku"}'], /^map names the column "Nr", which the file lacks; did you mean Seit\?|^map names the column "Nr"/],
  [['--map', '{'], /^map must be a JSON object/],
  [['--map', '{"Preis":"sku","Nummer":"sku"}'], /^file has the columns "Nummer" and "Preis" for the field sku/],
  [['--upsert-by', 'price'], /^--upsert-by must be the key of a field that a column of the file fills, got price/],
  [['--upsert-by', 'price', '--map', '{"Preis":"price"}'], /^--upsert-by must be the key of a unique field, got price/],
  [['--decimal', ';'], /decimal must be/],
  [['--dates', 'dym'], /dates must be/],
  [['--queue', 'q', '--dates', 'dmy'], /^--queue goes with none of /],
]

test('import parameters: wrong options end with the reason and create nothing', async (t) => {
  const { w, kontorImport } = await importing()
  await goods(w)
  for (const [args, message] of refused) {
    const type = args.includes('--queue') ? [] : ['--type', 'goods']
    const { code, err } = await kontorImport(fileOf('liste.csv', german), ...type, ...args)
    t.is(code, 2, args.join(' '))
    t.regex(err, message, args.join(' '))
  }
  t.is((await fieldsOf(w, 'goods')).length, 3)
  t.is((await recordsOf(w, 'goods')).total, 1)
})
