import test from 'ava'
import { csv, importInto, importWith, records, totalOf, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { countAuditEntries } from '#test/core/records/rows.ts'
import { readCauses } from '#test/support/audit.ts'
import { createOrg } from '#test/support/factories.ts'
import { setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)

const goods = (w: World) =>
  typeOf(w, 'goods', {
    sku: { unique: true },
    name: { required: true },
    price: { type: 'number', rules: { min: 0 } },
    code: { unique: true },
    made: { type: 'date', immutable: true },
    state: { type: 'select', rules: { options: ['new', 'old'], default: 'new' } },
    twice: { type: 'number', formula: 'price*2' },
  })

const bySku = { upsert_by: 'sku' }

test('upsert: rows change the record of their key, create others, and leave equal ones without an audit entry', async (t) => {
  const w = await take()
  await goods(w)
  await importInto(w, 'goods', 'sku,name,price,state\nA,one,1,old\nB,two,2,\nC,three,3,\n')
  const text = 'sku,name,price,state\nB,two,2.0,new\nA,,5,\nD,four,4,\n,five,5,\n,six,6,\nC,three,,\n'
  const { data } = await importWith(w, 'goods', bySku, text)
  t.deepEqual({ ...data }, { created: 3, updated: 1, unchanged: 2, failed: 0, errors: [], ignored_columns: [] })
  t.deepEqual(
    (await valuesOf(w, 'goods')).map(({ sku, name, price, state, twice }) => [sku, name, price, state, twice]),
    [
      ['A', 'one', 5, 'old', 10],
      ['B', 'two', 2, 'new', 4],
      ['C', 'three', 3, 'new', 6],
      ['D', 'four', 4, 'new', 8],
      [null, 'five', 5, 'new', 10],
      [null, 'six', 6, 'new', 12],
    ],
  )
  t.is(await countAuditEntries(w.db, w.org.id, { action: 'record.updated', objectType: 'goods' }), 1)
  const { data: audit } = await w.org.owner.get(`${w.org.path}/audit?object_type=goods&action=record.updated`)
  t.deepEqual({ ...audit.entries[0].before }, { price: 1, twice: 2 })
  t.deepEqual({ ...audit.entries[0].after }, { price: 5, twice: 10 })
})

test('upsert: the audit of an import names its job', async (t) => {
  const w = await take()
  await goods(w)
  await importInto(w, 'goods', 'sku,name\nA,one\n')
  const headers = { ...csv, prefer: 'respond-async' }
  const { status, data } = await w.org.owner.post(`${records(w, 'goods')}/import?upsert_by=sku`, 'sku,name\nA,two\nB,three\n', headers)
  t.is(status, 202)
  await w.drain()
  t.like((await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}`)).data, { kind: 'records.import', status: 'done' })
  const [first, ...causes] = await readCauses(w.org, 'object_type=goods')
  t.is(first?.[0], 'created goods: import')
  t.not(first?.[1], data.job_id)
  t.deepEqual(causes.toSorted(), [
    ['created goods: import', data.job_id],
    ['updated goods: import', data.job_id],
  ])
})

test('upsert: an exported file imported again is unchanged in every row and writes no audit entry', async (t) => {
  const w = await take()
  await typeOf(w, 'things', {
    key: { unique: true },
    text: { type: 'text' },
    state: { type: 'select', rules: { options: ['new', '=old'] } },
    price: { type: 'currency' },
    size: { type: 'number' },
    tags: { type: 'multiselect', rules: { options: ['a', 'b|c', '[d]'] } },
    links: { type: 'refs', rules: { ref_type: 'things' } },
    link: { type: 'ref', rules: { ref_type: 'things' } },
    done: { type: 'bool' },
    day: { type: 'date' },
    at: { type: 'datetime' },
    mail: { type: 'email' },
    site: { type: 'url' },
    doc: { type: 'file' },
    now: { type: 'datetime', formula: 'NOW()' },
  })
  const tricky = [
    '=1+1',
    "'=x",
    '+49 123 456',
    '-5',
    '@x',
    'a"b',
    ' padded ',
    'line\r\nbreak',
    "''+",
    '\tx',
    'ü😀',
    '\uff1d1',
    '\u00a0=1',
    'x;y,z',
  ]
  let last: string | null = null
  for (const [index, text] of tricky.entries()) {
    const values = {
      key: text,
      text: index % 3 ? text : null,
      state: index % 2 ? 'new' : '=old',
      price: { amount: `-${index}.5`, code: index % 2 ? 'EUR' : 'JPY' },
      size: '12345678901234.123456',
      tags: ['b|c', '[d]'],
      links: last ? [last, last] : [],
      link: last,
      done: index % 2 === 0,
      day: '2026-02-28',
      at: '2026-01-31T09:00:00.123456Z',
      mail: 'ada@example.com',
      site: 'https://example.com/?a=1',
      doc: 'a b/c',
    }
    const made = await w.org.owner.post(records(w, 'things'), { values })
    t.is(made.status, 201, made.text)
    last = made.data.id
  }
  // The recompute of the formula changes the records that it finds.
  await w.drain()
  const { text: file } = await w.org.owner.get(`${records(w, 'things')}/export`)
  const before = await countAuditEntries(w.db, w.org.id, {})
  const { data, text } = await importWith(w, 'things', { upsert_by: 'key' }, file)
  t.deepEqual({ ...data }, { created: 0, updated: 0, unchanged: 14, failed: 0, errors: [], ignored_columns: ['id', 'created_at'] }, text)
  t.is(await countAuditEntries(w.db, w.org.id, {}), before)
  t.is((await w.org.owner.get(`${records(w, 'things')}/export`)).text, file)
})

test('upsert: a bad row is refused with the rule of a change, and the others are imported', async (t) => {
  const w = await take()
  await goods(w)
  await importInto(w, 'goods', 'sku,name,price,code,made\nA,one,1,x,2026-01-01\nB,two,2,y,\nC,three,3,z,\n')
  const { data } = await importWith(
    w,
    'goods',
    bySku,
    'sku,name,price,code,made\nA,,-1,,\nB,,,x,\nA,,7,,\nC,,,,2026-05-05\nD,,1,,\nE,five,,w,\nF,six,,w,\n,seven,,,\n',
  )
  t.like(data, { created: 2, updated: 0, unchanged: 0, failed: 6 })
  t.deepEqual(
    data.errors.map((error: object) => ({ ...error })),
    [
      { row: 1, column: 'price', message: 'values.price must be at least 0, got -1' },
      { row: 2, column: 'code', message: 'values.code already has this value in another record' },
      { row: 3, column: 'sku', message: 'values.sku has the value of row 1; a file may hold it once' },
      { row: 4, column: 'made', message: 'values.made cannot change after creation' },
      { row: 5, column: 'name', message: 'values.name is required' },
      { row: 7, column: 'code', message: 'values.code already has this value in another record' },
    ],
  )
  t.deepEqual(
    (await valuesOf(w, 'goods')).map(({ sku, price }) => [sku, price]),
    [
      ['A', 1],
      ['B', 2],
      ['C', 3],
      ['E', null],
      [null, null],
    ],
  )
})

test('upsert: keys are equal by value, also across the steps of a long file', async (t) => {
  const w = await take()
  await typeOf(w, 'numbered', { nr: { type: 'number', unique: true }, name: {} })
  const rows = Array.from({ length: 499 }, (_, index) => `${index},n${index}`)
  const { data } = await importWith(w, 'numbered', { upsert_by: 'nr' }, `nr,name\n${rows.join('\n')}\n7.0,again\n`)
  t.like(data, { created: 499, failed: 1 })
  t.deepEqual({ ...data.errors[0] }, { row: 500, column: 'nr', message: 'values.nr has the value of row 8; a file may hold it once' })
  const changed = rows.map((row, index) => (index % 2 ? row : row.replace(',n', '.000,m')))
  t.like((await importWith(w, 'numbered', { upsert_by: 'nr' }, `nr,name\n${changed.toReversed().join('\n')}\n`)).data, {
    created: 0,
    updated: 250,
    unchanged: 249,
    failed: 0,
  })
})

const kinds: readonly (readonly [type: string, key: string, same: string, rules?: object])[] = [
  ['text', `${'long '.repeat(2_000)}x`, `${'long '.repeat(2_000)}x`],
  ['currency', '12.50 EUR', '12.5EUR'],
  ['date', '2026-01-31', '2026-01-31'],
  ['datetime', '2026-01-31T10:00:00+01:00', '2026-01-31T09:00:00Z'],
  ['bool', 'true', 'yes'],
  ['email', 'ada@example.com', ' ada@example.com'],
  ['url', 'https://example.com', 'https://example.com'],
  ['file', 'a/b', 'a/b'],
  ['select', 'x', 'x', { options: ['x', 'y'] }],
  ['ref', '018f0000-0000-7000-8000-00000000000a', '018F0000-0000-7000-8000-00000000000A', { ref_type: 'locations' }],
]
for (const [type, key, same, rules = {}] of kinds) {
  test(`upsert: a unique ${type} field finds the record`, async (t) => {
    const w = await take()
    await typeOf(w, 'keyed', { key: { type, unique: true, rules }, name: {} })
    t.like((await importWith(w, 'keyed', { upsert_by: 'key' }, `key,name\n"${key}",a\n`)).data, { created: 1 })
    t.like((await importWith(w, 'keyed', { upsert_by: 'key' }, `key,name\n"${same}",a\n`)).data, { created: 0, unchanged: 1 })
    t.like((await importWith(w, 'keyed', { upsert_by: 'key' }, `key,name\n"${same}",b\n`)).data, { created: 0, updated: 1 })
    t.is(await totalOf(w, 'keyed'), 1)
  })
}

test('upsert: records with long texts are changed like others', async (t) => {
  const w = await take()
  await typeOf(w, 'pages', { nr: { unique: true }, body: { type: 'text' }, note: {} })
  const body = 'long '.repeat(5_000)
  const file = (note: string) => `nr,body,note\n${Array.from({ length: 25 }, (_, index) => `${index},${body},${note}`).join('\n')}\n`
  t.like((await importWith(w, 'pages', { upsert_by: 'nr' }, file('a'))).data, { created: 25 })
  t.like((await importWith(w, 'pages', { upsert_by: 'nr' }, file('b'))).data, { created: 0, updated: 25, failed: 0 })
  const short = `nr,note\n${Array.from({ length: 45 }, (_, index) => `${44 - index},${index < 30 ? 'b' : 'c'}`).join('\n')}\n`
  t.like((await importWith(w, 'pages', { upsert_by: 'nr' }, short)).data, { created: 20, updated: 15, unchanged: 10, failed: 0 })
})

test('upsert: a numbered key that is blank gets the next number, and one that is given finds its record', async (t) => {
  const w = await take()
  const invoices = 'number,customer_name\n,Ada\nINV-00001,Bob\n'
  t.like((await importWith(w, 'invoices', { upsert_by: 'number' }, 'number,customer_name\n,Ada\n')).data, { created: 1 })
  t.like((await importWith(w, 'invoices', { upsert_by: 'number' }, invoices)).data, { created: 1, updated: 1, failed: 0 })
  t.deepEqual(
    (await valuesOf(w, 'invoices')).map(({ number, customer_name }) => [number, customer_name]),
    [
      ['INV-00001', 'Bob'],
      ['INV-00002', 'Ada'],
    ],
  )
})

test('upsert: a record of another workspace is never found', async (t) => {
  const w = await take()
  await goods(w)
  const other = { ...w, org: await createOrg(w, 'Other') }
  await goods(other)
  await importInto(other, 'goods', 'sku,name,price\nA,theirs,1\n')
  t.like((await importWith(w, 'goods', bySku, 'sku,name,price\nA,ours,2\n')).data, { created: 1, updated: 0 })
  t.like((await valuesOf(other, 'goods'))[0], { name: 'theirs', price: 1 })
  const { status } = await w.org.owner.post(`${records(other, 'goods')}/import?upsert_by=sku`, 'sku\nA\n', { 'content-type': 'text/csv' })
  t.is(status, 404)
})

test("upsert: at the free plan's cap rows still change records, and new ones fail", async (t) => {
  const w = await take()
  await goods(w)
  await importInto(w, 'goods', 'sku,name\nA,one\n')
  await setPlan(w.db, w.org.id, 'free')
  const cap = w.config.freePlan.records
  const rows = (count: number) => `name\n${'x\n'.repeat(count)}`
  for (let left = cap - 1; left > 0; left -= 500) t.is((await importInto(w, 'locations', rows(Math.min(left, 500)))).data.failed, 0)
  const { data } = await importWith(w, 'goods', bySku, 'sku,name\nB,two\nA,changed\n')
  t.like(data, { created: 0, updated: 1, failed: 1 })
  t.deepEqual({ ...data.errors[0] }, { row: 1, message: `The free plan holds at most ${cap} records` })
})

test('upsert: no cell clears a value, and blanks are a value of text alone', async (t) => {
  const w = await take()
  const rules = { options: ['a', 'b'] }
  await typeOf(w, 'things', {
    sku: { unique: true },
    text: {},
    size: { type: 'number' },
    price: { type: 'currency' },
    done: { type: 'bool' },
    day: { type: 'date' },
    tags: { type: 'multiselect', rules },
  })
  await importInto(w, 'things', 'sku,text,size,price,done,day,tags\nA,x,1,2 EUR,yes,2026-01-01,a|b\n')
  const [stored] = await valuesOf(w, 'things')
  for (const parameters of [bySku, { ...bySku, decimal: ',', dates: 'dmy' }]) {
    for (const [column, cell] of ['size', 'price', 'done', 'day', 'tags'].flatMap((key) =>
      [' ', '\u00a0\t'].map((blank) => [key, blank]),
    )) {
      const { data } = await importWith(w, 'things', parameters, `sku,${column}\nA,"${cell}"\n`)
      t.like(data, { unchanged: 1, failed: 0 }, `${column} ${JSON.stringify(cell)}`)
    }
    for (const cell of ['[]', '|']) t.like((await importWith(w, 'things', parameters, `sku,tags\nA,${cell}\n`)).data, { unchanged: 1 })
  }
  t.deepEqual(await valuesOf(w, 'things'), [stored])
  t.like((await importWith(w, 'things', bySku, 'sku,text\nA,"  "\nB,"  "\n')).data, { created: 1, updated: 1 })
  t.deepEqual(
    (await valuesOf(w, 'things')).map(({ text }) => text),
    ['  ', '  '],
  )
})
