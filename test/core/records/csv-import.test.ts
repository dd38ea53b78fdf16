import test from 'ava'
import { csv, importInto, records, totalOf, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { createMember } from '#test/support/factories.ts'
import { countRows, setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const take = shareWorld(test)

test('csv import: cells are read by the type of their field, and blank ones get defaults and numbers', async (t) => {
  const w = await take()
  await typeOf(w, 'things', {
    name: { required: true },
    state: { type: 'select', rules: { options: ['new', 'old'], default: 'new' } },
    price: { type: 'currency' },
    due: { type: 'currency', rules: { unit: 'JPY' } },
    tags: { type: 'multiselect', rules: { options: ['a', 'b|c', '[d]'] } },
    links: { type: 'refs', rules: { ref_type: 'locations' } },
    done: { type: 'bool' },
    day: { type: 'date', immutable: true },
    at: { type: 'datetime' },
    size: { type: 'number' },
  })
  const id = '018f0000-0000-7000-8000-000000000001'
  const { data, text } = await importInto(
    w,
    'things',
    [
      'name,state,price,due,tags,links,done,day,at,size,created_at,nonsense',
      `one,old,12.50 EUR,3,"[""a"",""b|c""]",${id}|${id},TRUE,2026-01-31,2026-01-31T10:00:00+01:00,12345678901234.123456,x,y`,
      `two,,7,1 EUR,a | [d],"[""${id}""]",false,,,,,`,
    ].join('\r\n'),
  )
  t.deepEqual(
    { ...data },
    { created: 2, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: ['created_at', 'nonsense'] },
    text,
  )
  const rows = await w.org.owner.get(`${records(w, 'things')}?sort=name&dir=asc`)
  t.true(rows.text.includes('"size":12345678901234.123456'))
  const [one, two] = await valuesOf(w, 'things')
  t.like(one, { state: 'old', price: { amount: 12.5, code: 'EUR' }, due: { amount: 3, code: 'JPY' }, done: true, day: '2026-01-31' })
  t.deepEqual([one?.tags, one?.links, one?.at], [['a', 'b|c'], [id, id], '2026-01-31T09:00:00.000000Z'])
  t.like(two, {
    state: 'new',
    price: { amount: 7, code: 'USD' },
    due: { amount: 1, code: 'JPY' },
    done: false,
    day: null,
    at: null,
    size: null,
  })
  t.deepEqual([two?.tags, two?.links], [['a', '[d]'], [id]])
})

test('csv import: each bad row is reported with its number and the rule, and the others are created', async (t) => {
  const w = await take()
  await typeOf(w, 'things', {
    code: { unique: true, rules: { pattern: '^[a-z]+$', max_len: 5 } },
    name: { required: true },
    price: { type: 'number', rules: { min: 0, max: 10 } },
    state: { type: 'select', rules: { options: ['new'] } },
  })
  await w.org.owner.post(records(w, 'things'), { values: { code: 'there', name: 'x' } })
  const { data } = await importInto(
    w,
    'things',
    [
      'code,name,price,state',
      'a,one,1,new',
      'b,,1,new',
      'B,three,1,new',
      'c,four,11,new',
      'd,five,ten,new',
      'e,six,1,other',
      'a,seven,1,new',
      'there,eight,1,new',
      'f,nine,1,new,more',
      'g,ten',
      'toolong,eleven,,',
      ',twelve,,',
      ',thirteen,,',
    ].join('\n'),
  )
  t.like(data, { created: 4, failed: 9 })
  t.deepEqual(
    data.errors.map(({ row, message }: { row: number; message: string }) => `${row} ${message}`),
    [
      '2 values.name is required',
      '3 values.code must be text matching ^[a-z]+$, got "B"',
      '4 values.price must be at most 10, got 11',
      '5 values.price must be a number with up to 14 digits before and 6 after the decimal point, got "ten"',
      '6 values.state must be one of new, got "other"',
      '7 values.code already has this value in another record',
      '8 values.code already has this value in another record',
      '9 has 5 cells where the header has 4',
      '11 values.code must be at most 5 characters long, got 7',
    ],
  )
  t.deepEqual(
    (await valuesOf(w, 'things')).map(({ name }) => name),
    ['x', 'one', 'ten', 'twelve', 'thirteen'],
  )
})

const unusable: Readonly<Record<string, string | Uint8Array>> = {
  nothing: '',
  'a header of other names': 'id,created_at,Name\n1,2,3\n',
  'a header that names a field twice': 'name,address,name\na,b,c\n',
  'a quote that nothing closes, behind 400 good rows': `name\n${'x\n'.repeat(400)}"y\n`,
  'a record that is too long, behind 400 good rows': `name\n${'x\n'.repeat(400)}"${'y'.repeat(4_000_100)}"\n`,
  'bytes that are no text, behind 400 good rows': Buffer.concat([Buffer.from(`name\n${'x\n'.repeat(400)}`), Buffer.from([0xff, 0x0a])]),
  '501 rows': `name\n${'x\n'.repeat(501)}`,
  'more than 25 MB': `name,address\n${`x,${'y'.repeat(60_000)}\n`.repeat(440)}`,
}

test('csv import: an unusable CSV file is refused with 400 and creates nothing', async (t) => {
  const w = await take()
  for (const [name, text] of Object.entries(unusable)) {
    const { status, body } = await importInto(w, 'locations', text)
    t.is(status, 400, name)
    t.is(body.error.code, 'VALIDATION_ERROR', name)
    t.regex(body.error.message, /^file/, name)
  }
  t.is(await totalOf(w, 'locations'), 0)
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})

test('csv import: a file of 25 MB is imported', async (t) => {
  const w = await take()
  await typeOf(w, 'pages', { name: {}, body: { type: 'text' } })
  const row = `x,${'y'.repeat(52_000)}\n`
  const text = `name,body\n${row.repeat(500)}`
  t.true(text.length > 25_000_000 && text.length <= 25 * 1024 * 1024)
  const { data } = await importInto(w, 'pages', text)
  t.deepEqual({ ...data }, { created: 500, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] })
  const { text: exported } = await w.org.owner.get(`${records(w, 'pages')}/export`)
  t.is(exported.match(/y{52000}\r\n/g)?.length, 500)
})

test('csv import: conditions of import rules are tested on each row as sent and as stored', async (t) => {
  const w = await take()
  await typeOf(w, 'deals', { name: {}, region: { rules: { default: 'south' } } })
  const member = async (condition: object) =>
    (await createMember(w, w.org, [{ effect: 'allow', actions: ['records:import'], condition }])).client
  const text = 'name,region\na,north\nb,south\nc,\n'
  const north = await (await member({ 'resource.region': { eq: 'north' } })).post(`${records(w, 'deals')}/import`, text, csv)
  t.like(north.data, { created: 1, failed: 2 })
  const message = 'Needs records:import on deals with these values'
  t.deepEqual(
    [...north.data.errors],
    [2, 3].map((row) => ({ row, message })),
  )
  // The sent values of row c have no region and would pass; the stored ones are in the south.
  const notSouth = await (await member({ 'resource.region': { ne: 'south' } })).post(`${records(w, 'deals')}/import`, text, csv)
  t.deepEqual(
    notSouth.data.errors.map(({ row }: { row: number }) => row),
    [2, 3],
  )
  t.deepEqual(
    (await valuesOf(w, 'deals')).map(({ name }) => name),
    ['a', 'a'],
  )
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:create', 'records:read'] }])
  t.is((await client.post(`${records(w, 'deals')}/import`, text, csv)).status, 403)
})

test('csv import: the free plan imports as many rows as its cap allows', async (t) => {
  const w = await take()
  await setPlan(w.db, w.org.id, 'free')
  const cap = w.config.freePlan.records
  const rows = (count: number) => `name\n${'x\n'.repeat(count)}`
  for (let left = cap - 250; left > 0; left -= 500) t.is((await importInto(w, 'locations', rows(Math.min(left, 500)))).data.failed, 0)
  const { data } = await importInto(w, 'locations', rows(400))
  t.like(data, { created: 250, failed: 150 })
  t.deepEqual({ ...data.errors[0] }, { row: 251, message: `The free plan holds at most ${cap} records` })
  t.is(await totalOf(w, 'locations'), cap)
  t.like((await importInto(w, 'locations', rows(2))).data, { created: 0, failed: 2 })
})

test('csv import: a file without a usable header tells no field that the caller may not read', async (t) => {
  const w = await take()
  const rights = { effect: 'allow', actions: ['records:import', 'records:read'], fields: { deny: ['name'] } }
  const { client } = await createMember(w, w.org, [rights])
  const { status, body } = await client.post(`${w.org.path}/records/locations/import`, 'foo\n1\n', { 'content-type': 'text/csv' })
  t.is(status, 400)
  t.is(body.error.message, 'file must have a header row of which at least one column is the key of a field')
})

test('csv import: rows without any value are no rows, and take no numbers', async (t) => {
  const w = await take()
  await typeOf(w, 'slips', { name: {}, nn: { type: 'number' }, cc: {} })
  const { data: fields } = await w.org.owner.get(`${w.org.path}/fields?entity_type=slips`)
  const { id } = fields.find(({ key }: { key: string }) => key === 'cc')
  t.is((await w.org.owner.put(`${w.org.path}/fields/${id}/autogen`, { pattern: 'S{seq}' })).status, 200)
  const files = [
    'name,nn,cc\r\na,1,\r\n,,\r\n,,\r\n',
    'sep=;\r\nname;nn;cc\r\nb, or c;2;\r\n ;\u00a0;\r\n',
    '"sep=|"\nname|nn\nd|3\n||""\n',
  ]
  for (const file of files) {
    const { data, text } = await importInto(w, 'slips', file)
    t.deepEqual({ ...data }, { created: 1, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] }, text)
  }
  const values = await valuesOf(w, 'slips')
  t.deepEqual(
    values.map(({ name }) => name),
    ['a', 'b, or c', 'd'],
  )
  t.deepEqual(
    values.map(({ cc }) => cc),
    ['S1', 'S2', 'S3'],
  )
})

test('csv import: amounts are exported without the guard, other cells with it, and all are read back', async (t) => {
  const w = await take()
  await typeOf(w, 'bills', { name: {}, price: { type: 'currency' } })
  const { owner } = w.org
  for (const name of ['\u00a0=1', '\uff1d1', "'=1"])
    await owner.post(records(w, 'bills'), { values: { name, price: { amount: '-5', code: 'EUR' } } })
  const { text } = await owner.get(`${records(w, 'bills')}/export?sort=created_at&dir=asc`)
  t.deepEqual(
    text.split('\r\n').map((line) => line.split(',').slice(2).join()),
    ['name,price', `"'\u00a0=1",-5 EUR`, `'\uff1d1,-5 EUR`, `''=1,-5 EUR`, ''].map((line) =>
      line.replaceAll('"', line.includes('\u00a0') ? '' : '"'),
    ),
  )
  t.like((await importInto(w, 'bills', text)).data, { created: 3, failed: 0, ignored_columns: ['id', 'created_at'] })
  const values = await valuesOf(w, 'bills')
  t.deepEqual(values.slice(0, 3), values.slice(3))
})
