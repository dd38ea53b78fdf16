import test from 'ava'
import { fieldsOf, fileOf, importingFor, recordsOf, typesOf } from '#test/bin/importing.ts'

const importing = importingFor(test)
const customers = new URL('../fixtures/csv/real/northwind-customers.csv', import.meta.url).pathname

test('import fields: the values decide the type of a field', async (t) => {
  const { w, kontorImport } = await importing()
  const columns: Readonly<Record<string, readonly [cells: readonly string[], type: string]>> = {
    Price: [['1', '-12.5', '99999999999999.999999'], 'number'],
    Zip: [['01067', '10115'], 'string'],
    Phone: [['+4930123456', '30'], 'string'],
    'Too precise': [['0.1234567', '1'], 'string'],
    Scientific: [['1e5', '2'], 'string'],
    Active: [['true', 'FALSE', ''], 'bool'],
    'Yes no': [['yes', 'no'], 'string'],
    Day: [['2026-01-31', '', '2024-02-29'], 'date'],
    'No day': [['2026-02-30', '2026-01-01'], 'string'],
    'Day of ours': [['31.01.2026', '01.02.2026'], 'string'],
    Moment: [['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.5+02:00'], 'datetime'],
    Mail: [['ann@example.com', 'bob@example.org'], 'email'],
    Web: [['https://example.com/a?b=c', 'http://example.org'], 'url'],
    'No web': [['example.com', 'https://example.com'], 'string'],
    Long: [['x'.repeat(501), 'y'], 'text'],
    'Just fits': [['😀'.repeat(500)], 'string'],
    Nothing: [[], 'string'],
    Blanks: [[' 1 ', '2'], 'number'],
  }
  const names = Object.keys(columns)
  const height = Math.max(...Object.values(columns).map(([cells]) => cells.length))
  const lines = Array.from({ length: height }, (_, row) => names.map((name) => columns[name]?.[0][row] ?? '').join(','))
  const { code, err, json } = await kontorImport(fileOf('values.csv', [names.join(','), ...lines, ''].join('\n')), '--json')
  t.is(code, 0, err)
  const fields = await fieldsOf(w, 'values')
  t.deepEqual(
    fields.map(({ label, type }: { label: string; type: string }) => [label, type]),
    names.map((name) => [name, columns[name]?.[1]]),
  )
  t.like(json, { created: height, failed: 0 })
  t.like((await recordsOf(w, 'values')).records[0].values, { zip: '01067', phone: '+4930123456', price: 1, active: true, blanks: 1 })
})

test('import fields: a few repeated values become the options of a select', async (t) => {
  const { w, kontorImport } = await importing()
  const row = (index: number) => `${['red', 'green', 'blue'][index % 3]},${index % 4},word ${index % 30},same`
  const text = (rows: number) => `colour,digit,word,constant\n${Array.from({ length: rows }, (_, index) => row(index)).join('\n')}\n`
  const types = async (rows: number) => {
    const { json } = await kontorImport(fileOf(`rows_${rows}.csv`, text(rows)), '--dry-run', '--json')
    return json.columns.map(({ type }: { type: string }) => type)
  }
  t.deepEqual(await types(60), ['select', 'number', 'string', 'string'])
  t.deepEqual(await types(59), ['string', 'number', 'string', 'string'])
  t.deepEqual(await types(1_000), ['select', 'number', 'string', 'string'])
  t.is((await kontorImport(fileOf('colours.csv', text(120)), '--json')).json.created, 120)
  t.deepEqual((await fieldsOf(w, 'colours'))[0].rules, { options: ['blue', 'green', 'red'] })
})

test('import fields: names become keys: letters of other alphabets, leading digits, reserved and conflicting names', async (t) => {
  const { w, kontorImport } = await importing()
  const names = {
    customerID: 'customer_id',
    'e-Mail Adresse': 'e_mail_adresse',
    Größe: 'grosse',
    Ñandú: 'nandu',
    Имя: 'imya',
    Αθήνα: 'athina',
    '2020 total': 'field_2020_total',
    x: 'field_x',
    東京: 'column_9',
    id: 'id_2',
    owner: 'owner_2',
    Name: 'name',
    name: 'name_2',
    constructor: 'constructor',
    HTTPServer: 'http_server',
    ['long '.repeat(20).trim()]: 'long_'.repeat(13).slice(0, 64).replace(/_$/, ''),
  }
  const text = `${Object.keys(names).join(',')}\n${Object.keys(names)
    .map((_, index) => `v${index}`)
    .join(',')}\n`
  const { code, err } = await kontorImport(fileOf('2020 Größen (neu).csv', text))
  t.is(code, 0, err)
  const fields = await fieldsOf(w, 'type_2020_grossen_neu')
  t.deepEqual(
    Object.fromEntries(fields.map(({ label, key }: { label: string; key: string }) => [label, key])),
    names as Record<string, string>,
  )
  const [record] = (await recordsOf(w, 'type_2020_grossen_neu')).records
  t.deepEqual(
    Object.values(record.values),
    Object.keys(names).map((_, index) => `v${index}`),
  )
})

test('import fields: a dry run prints the proposal and creates nothing', async (t) => {
  const { w, kontorImport } = await importing()
  const before = await typesOf(w)
  const shown = await kontorImport(customers, '--dry-run')
  t.is(shown.code, 0, shown.err)
  t.regex(shown.out, /^New record type northwind_customers, 91 rows\n/)
  t.regex(shown.out, /customerID +customer_id +string +ALFKI\n/)
  const { json } = await kontorImport(customers, '--dry-run', '--json', '--type', 'clients')
  t.like(json, { dry_run: true, rows: 91, type: { key: 'clients', created: true } })
  t.like(json.columns[0], { header: 'customerID', field: 'customer_id', label: 'customerID', type: 'string', created: true })
  t.deepEqual(await typesOf(w), before)
})

test('import fields: an existing type gets the missing fields, and matching columns fill its own', async (t) => {
  const { w, kontorImport } = await importing()
  await w.org.owner.post(`${w.org.path}/types`, { key: 'people', label: 'People' })
  const field = (key: string, more: object) =>
    w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'people', key, label: key, type: 'string', ...more })
  await field('full_name', {})
  await field('mail', { label: 'E-Mail', type: 'email' })
  const sum = await field('shout', { type: 'string' })
  await w.org.owner.put(`${w.org.path}/fields/${sum.data.id}/formula`, { formula: 'UPPER(full_name)' })
  const file = fileOf('people.csv', 'Full Name,E-Mail,shout,City\nAnn,ann@example.com,x,Oslo\nBob,no mail,x,Rome\n')
  const { code, out } = await kontorImport(file)
  t.is(code, 1)
  t.regex(out, /^Record type people, which is there already, 2 rows\n/)
  t.regex(out, /Full Name +full_name +string \(there already\) +Ann\n/)
  t.regex(out, /shout +- +left out +shout is a computed field\n/)
  t.regex(out, /^row 2, column E-Mail: values.mail must be a valid email address, got "no mail"$/m)
  const { records, total } = await recordsOf(w, 'people')
  t.is(total, 1)
  t.deepEqual({ ...records[0].values }, { full_name: 'Ann', mail: 'ann@example.com', shout: 'ANN', city: 'Oslo' })
  t.is((await fieldsOf(w, 'people')).length, 4)
})
