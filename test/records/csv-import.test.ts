import test from 'ava'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'
import { holdAt } from './hold.ts'

const take = shareWorld(test)
const csv = { 'content-type': 'text/csv' }
const records = (w: World, type: string) => `${w.org.path}/records/${type}`
const importInto = (w: World, type: string, text: string | Uint8Array) => w.org.owner.post(`${records(w, type)}/import`, text, csv)
const totalOf = async (w: World, type: string) => (await w.org.owner.get(`${records(w, type)}?offset=0`)).data.total
const filesOf = async (w: World) => (await w.db.query('select from job_files where workspace_id = $1', [w.org.id])).rowCount

/** The values of all records in the order of their creation. */
async function valuesOf(w: World, type: string): Promise<readonly Record<string, unknown>[]> {
  const { data } = await w.org.owner.get(`${records(w, type)}?sort=created_at&dir=asc&limit=200`)
  return data.records.map(({ values }: { values: Record<string, unknown> }) => ({ ...values }))
}

/** Makes a record type with these fields. */
async function typeOf(w: World, key: string, fields: Readonly<Record<string, object>>): Promise<void> {
  await w.org.owner.post(`${w.org.path}/types`, { key, label: key })
  for (const [field, more] of Object.entries(fields)) {
    const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: key, key: field, label: field, type: 'string', ...more })
    if (made.status !== 201) throw new Error(made.text)
  }
}

test('cells become values as their field reads them, and blank ones are left to defaults and numbers', async (t) => {
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
  t.deepEqual({ ...data }, { created: 2, failed: 0, errors: [] }, text)
  const rows = await w.org.owner.get(`${records(w, 'things')}?sort=name&dir=asc`)
  t.true(rows.text.includes('"size":12345678901234.123456'))
  const [one, two] = await valuesOf(w, 'things')
  t.like(one, { state: 'old', price: { amount: 12.5, code: 'EUR' }, due: { amount: 3, code: 'JPY' }, done: true, day: '2026-01-31' })
  t.deepEqual([one?.tags, one?.links, one?.at], [['a', 'b|c'], [id, id], '2026-01-31T09:00:00Z'])
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

test('each bad row is reported with its number and the rule, and the others are created', async (t) => {
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

test('a file that is no usable CSV is 400, creates nothing and leaves nothing behind', async (t) => {
  const w = await take()
  for (const [name, text] of Object.entries(unusable)) {
    const { status, body } = await importInto(w, 'locations', text)
    t.is(status, 400, name)
    t.is(body.error.code, 'VALIDATION_ERROR', name)
    t.regex(body.error.message, /^file/, name)
  }
  t.is(await totalOf(w, 'locations'), 0)
  t.is(await filesOf(w), 0)
})

test('a file of 25 MB is imported', async (t) => {
  const w = await take()
  await typeOf(w, 'pages', { name: {}, body: { type: 'text' } })
  const row = `x,${'y'.repeat(52_000)}\n`
  const text = `name,body\n${row.repeat(500)}`
  t.true(text.length > 25_000_000 && text.length <= 25 * 1024 * 1024)
  const { data } = await importInto(w, 'pages', text)
  t.deepEqual({ ...data }, { created: 500, failed: 0, errors: [] })
  const { text: exported } = await w.org.owner.get(`${records(w, 'pages')}/export`)
  t.is(exported.match(/y{52000}\r\n/g)?.length, 500)
})

test('conditions of import rules are tested on each row, as sent and as it will be stored', async (t) => {
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
  // What is sent of row c has no region and would do; what is stored is in the south.
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

test('the free plan takes the rows that there is room for', async (t) => {
  const w = await take()
  await w.db.query(`update workspaces set plan = 'free' where id = $1`, [w.org.id])
  const cap = w.config.freePlan.records
  const rows = (count: number) => `name\n${'x\n'.repeat(count)}`
  for (let left = cap - 250; left > 0; left -= 500) t.is((await importInto(w, 'locations', rows(Math.min(left, 500)))).data.failed, 0)
  const { data } = await importInto(w, 'locations', rows(400))
  t.like(data, { created: 250, failed: 150 })
  t.deepEqual({ ...data.errors[0] }, { row: 251, message: `The free plan holds at most ${cap} records` })
  t.is(await totalOf(w, 'locations'), cap)
  t.like((await importInto(w, 'locations', rows(2))).data, { created: 0, failed: 2 })
})

test('of 20 imports of the same unique values at once each value is created once', async (t) => {
  const w = await take()
  await typeOf(w, 'codes', { code: { unique: true } })
  const codes = Array.from({ length: 200 }, (_, index) => `c${index}`)
  const files = Array.from({ length: 20 }, (_, index) => `code\n${(index % 2 ? codes : codes.toReversed()).join('\n')}\n`)
  const answers = await Promise.all(files.map((file) => importInto(w, 'codes', file)))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is(
    answers.reduce((sum, { data }) => sum + data.created, 0),
    200,
  )
  t.is(
    answers.reduce((sum, { data }) => sum + data.failed, 0),
    19 * 200,
  )
  t.is(await totalOf(w, 'codes'), 200)
})

test('a creation and an import that wait for each other both end with what is true', async (t) => {
  const w = await take()
  await typeOf(w, 'pairs', { one: { unique: true }, two: { unique: true }, note: {} })
  const hold = await holdAt(w, 'here', 'pairs', 'note')
  const importing = importInto(w, 'pairs', 'one,two,note\na,a,\nb,b,here\n')
  await hold.reached()
  // It takes b of the first field and waits for a of the second, which the import has; the import comes to wait for b.
  const creating = w.org.owner.post(records(w, 'pairs'), { values: { one: 'b', two: 'a' } })
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid' and query like '%"pairs"%'`
  while ((await w.db.query(blocked)).rowCount === 0);
  await hold.release()
  const [imported, created] = [await importing, await creating]
  t.is(imported.data.created + (created.status === 201 ? 1 : 0), 2, created.text)
  t.true([201, 409].includes(created.status), created.text)
  t.is(await totalOf(w, 'pairs'), 2)
})

test('imports into two workspaces at once do not meet', async (t) => {
  const w = await take()
  const other = { ...w, org: await createOrg(w, 'Other') }
  const both = [w, other]
  for (const one of both) await typeOf(one, 'codes', { code: { unique: true } })
  const text = `code\n${Array.from({ length: 300 }, (_, index) => `c${index}`).join('\n')}\n`
  for (const { data } of await Promise.all(both.map((one) => importInto(one, 'codes', text)))) t.like(data, { created: 300, failed: 0 })
  for (const one of both) t.is(await totalOf(one, 'codes'), 300)
})

const long = `name,address,extra\n${Array.from({ length: 500 }, (_, index) => `row ${index + 1},a,b`).join('\n')}\n`

test('a field that is deleted while an import runs is passed over from then on', async (t) => {
  const w = await take()
  const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'locations', key: 'extra', label: 'Extra', type: 'string' })
  const hold = await holdAt(w, 'row 250')
  const running = importInto(w, 'locations', long)
  await hold.reached()
  const deleting = w.org.owner.delete(`${w.org.path}/fields/${made.data.id}`)
  await hold.release()
  t.deepEqual({ ...(await running).data }, { created: 500, failed: 0, errors: [] })
  t.is((await deleting).status, 204)
  t.is(await totalOf(w, 'locations'), 500)
})

test('a field that becomes required while an import runs binds the rows that are left', async (t) => {
  const w = await take()
  const hold = await holdAt(w, 'row 250')
  const running = importInto(w, 'locations', long)
  await hold.reached()
  const field = { entity_type: 'locations', key: 'must', label: 'Must', type: 'string', required: true }
  const adding = w.org.owner.post(`${w.org.path}/fields`, field)
  await hold.release()
  t.is((await adding).status, 201)
  const { data } = await running
  t.is(data.created + data.failed, 500)
  t.true(data.created >= 300)
  t.is(await totalOf(w, 'locations'), data.created)
  for (const { message } of data.errors) t.is(message, 'values.must is required')
})

test('an import by a member who is removed while it runs ends', async (t) => {
  const w = await take()
  const { client, id } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:*'] }])
  const hold = await holdAt(w, 'row 50')
  const { data } = await client.post(`${records(w, 'locations')}/import`, long, { ...csv, prefer: 'respond-async' })
  await hold.reached()
  t.is((await w.org.owner.delete(`${w.org.path}/members/${id}`)).status, 204)
  await hold.release()
  const job = async () => (await w.org.owner.get(`${w.org.path}/jobs/${data.job_id}`)).data
  while ((await job()).finished_at === null);
  t.like(await job(), { status: 'done', result: { created: 500, failed: 0 } })
})
