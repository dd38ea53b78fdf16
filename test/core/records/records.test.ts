import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { countRows, setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test)

const invoices = (w: World) => `${w.org.path}/records/invoices`

test('records: a record is created, read, changed, listed and deleted', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const made = await owner.post(invoices(w), { values: { customer_name: 'Ada', total: 12.5, status: 'open', issue_date: '2026-02-28' } })
  t.is(made.status, 201, made.text)
  t.like(made.data, { object_type: 'invoices', created_by: w.org.ownerId })
  t.like(made.data.values, {
    customer_name: 'Ada',
    total: { amount: 12.5, code: 'USD' },
    status: 'open',
    issue_date: '2026-02-28',
    notes: null,
  })
  const one = `${invoices(w)}/${made.data.id}`
  t.deepEqual((await owner.get(one)).data, made.data)
  t.is((await owner.put(`${one}/values`, { values: { notes: 'hello', customer_name: null } })).status, 204)
  const values = (await owner.get(`${one}/values`)).data.values
  t.like(values, { notes: 'hello', customer_name: null, status: 'open' })
  t.is((await owner.get(invoices(w))).data.records.length, 1)
  t.is((await owner.delete(one)).status, 204)
  t.is((await owner.get(one)).status, 404)
  t.deepEqual((await owner.get(invoices(w))).data, { records: [] })
  t.is(await countRows(w.db, 'audit_entries', w.org.id), 3)
})

test('records: a plain listing pages by cursor without gap or repeat, newest first', async (t) => {
  const w = await shared()
  const names = Array.from({ length: 23 }, (_, index) => `place ${index}`)
  for (const name of names) await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name } })
  const seen: string[] = []
  let cursor = ''
  do {
    const { data } = await w.org.owner.get(`${w.org.path}/records/locations?limit=5${cursor && `&cursor=${cursor}`}`)
    seen.push(...data.records.map((record: { values: { name: string } }) => record.values.name))
    cursor = data.next_cursor ?? ''
  } while (cursor)
  t.deepEqual(seen, names.toReversed())
  const { data } = await w.org.owner.get(`${w.org.path}/records/locations?limit=23`)
  t.false('next_cursor' in data)
  for (const damaged of ['x', '', 'e30', `${data.records[0].id}`]) {
    t.is((await w.org.owner.get(`${w.org.path}/records/locations?cursor=${damaged}`)).status, 400, damaged)
  }
})

test('records: a search filters, sorts, pages and counts exactly', async (t) => {
  const w = await shared()
  const { owner } = w.org
  for (const [customer_name, total] of [
    ['Ada', 10],
    ['bob', 2.5],
    ['Adam', null],
    ['Cy', 100],
  ] as const) {
    t.is((await owner.post(invoices(w), { values: { customer_name, total } })).status, 201)
  }
  const search = async (query: string) => (await owner.get(`${invoices(w)}?${query}`)).data
  const names = (page: { records: { values: { customer_name: string } }[] }) => page.records.map(({ values }) => values.customer_name)
  const filter = (...filters: object[]) => `filter=${encodeURIComponent(JSON.stringify(filters))}`
  t.deepEqual(names(await search('q=ad')), ['Adam', 'Ada'])
  t.deepEqual(names(await search('sort=total&dir=asc')), ['bob', 'Ada', 'Cy', 'Adam'])
  t.deepEqual(names(await search('sort=total&dir=desc')), ['Cy', 'Ada', 'bob', 'Adam'])
  t.deepEqual(names(await search('sort=created_at&dir=asc')), ['Ada', 'bob', 'Adam', 'Cy'])
  t.deepEqual(names(await search(filter({ field: 'total', op: 'gte', value: '2.5' }, { field: 'customer_name', value: 'A' }))), ['Ada'])
  t.deepEqual(names(await search(filter({ field: 'total', op: 'ne', value: '10' }))), ['Cy', 'Adam', 'bob'])
  const beyond = await search('sort=total&page=9&limit=3')
  t.deepEqual(beyond, { records: [], total: 4 })
  t.deepEqual(names(await search('offset=1&page=4&limit=2')), ['Adam', 'bob'])
})

test('records: a value that breaks a rule is refused with 400 that names the field', async (t) => {
  const w = await shared()
  const cases: [object | string, RegExp][] = [
    [{ values: { nope: 1 } }, /values\.nope/],
    [{ values: { status: 'lost' } }, /values\.status/],
    [{ values: { total: 'x' } }, /values\.total/],
    [{ values: [] }, /values/],
    [[], /body/],
    ['{"values": {"total": 123456789012345}}', /values\.total/],
  ]
  for (const [body, message] of cases) {
    const answer = await w.org.owner.post(invoices(w), body, { 'content-type': 'application/json' })
    t.is(answer.status, 400, JSON.stringify(body))
    t.regex(answer.body.error.message, message)
  }
  t.is((await w.org.owner.post(`${w.org.path}/records/locations`, {})).body.error.message, 'values.name is required')
  t.is((await w.org.owner.get(`${w.org.path}/records/nothing`)).status, 404)
  t.is((await w.org.owner.get(`${invoices(w)}/${randomUUID()}`)).status, 404)
})

test('records: a number keeps every digit in requests and responses', async (t) => {
  const w = await shared()
  const made = await w.org.owner.post(invoices(w), '{"values":{"total":12345678901234.123456}}', { 'content-type': 'application/json' })
  t.is(made.status, 201, made.text)
  t.true((await w.org.owner.get(`${invoices(w)}/${made.data.id}`)).text.includes('"amount":12345678901234.123456'))
})

test('records: of 20 equal creations of a unique value one succeeds', async (t) => {
  const w = await shared()
  const answers = await Promise.all(Array.from({ length: 20 }, () => w.org.owner.post(invoices(w), { values: { number: 'INV-1' } })))
  t.is(answers.filter(({ status }) => status === 201).length, 1)
  t.deepEqual([...new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.error.code))], ['DUPLICATE_VALUE'])
})

test('records: rules decide which records and fields a caller sees and changes', async (t) => {
  const w = await shared()
  const member = await createMember(w, w.org, [
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['invoices'],
      condition: { 'resource.status': { eq: 'open' } },
      fields: { deny: ['notes'] },
    },
    { effect: 'allow', actions: ['records:create'], resources: ['invoices'], condition: { 'resource.status': { eq: 'open' } } },
  ])
  const ids: string[] = []
  for (const status of ['open', 'paid']) {
    ids.push((await w.org.owner.post(invoices(w), { values: { status, notes: 'secret' } })).data.id)
  }
  const { client } = member
  const open = await client.get(`${invoices(w)}/${ids[0]}`)
  t.is(open.status, 200)
  t.false('notes' in open.data.values)
  t.is((await client.get(`${invoices(w)}/${ids[1]}`)).status, 404)
  t.is((await client.get(invoices(w))).data.records.length, 1)
  t.is((await client.get(`${invoices(w)}?offset=0`)).data.total, 1)
  t.is((await client.get(`${invoices(w)}?q=secret`)).data.total, 0)
  t.is((await client.get(`${invoices(w)}?sort=notes`)).status, 400)
  t.is((await client.post(invoices(w), { values: { status: 'paid' } })).status, 403)
  t.is((await client.post(invoices(w), { values: { status: 'open' } })).status, 201)
  t.is((await client.put(`${invoices(w)}/${ids[0]}/values`, { values: {} })).status, 403)
  t.is((await client.get(`${w.org.path}/records/accounts`)).status, 403)
  t.is((await client.get(`${w.org.path}/records/unknown`)).status, 404)
})

test('records: the free plan holds exactly its cap of records', async (t) => {
  const w = await world({ FREE_RECORDS: '7' })
  t.teardown(w.close)
  await setPlan(w.db, w.org.id, 'free')
  const answers = await Promise.all(Array.from({ length: 20 }, () => w.org.owner.post(invoices(w), {})))
  t.is(answers.filter(({ status }) => status === 201).length, 7)
  t.is(answers.filter(({ status }) => status === 402).length, 13)
})

test('records: a record without a value of a required field cannot be changed until it has one', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const { data } = await owner.post(invoices(w), {})
  await owner.post(`${w.org.path}/fields`, { entity_type: 'invoices', key: 'ref', label: 'Reference', type: 'string', required: true })
  const change = (values: object) => owner.put(`${invoices(w)}/${data.id}/values`, { values })
  t.is((await change({ notes: 'x' })).body.error.message, 'values.ref is required')
  t.is((await change({ notes: 'x', ref: 'R' })).status, 204)
  t.is((await change({ notes: 'y' })).status, 204)
  t.is((await change({ ref: '' })).status, 400)
})

test('records: empty text in a unique field never conflicts', async (t) => {
  const w = await shared()
  const { owner } = w.org
  for (const type of ['string', 'text']) {
    await owner.post(`${w.org.path}/fields`, { entity_type: 'locations', key: `u_${type}`, label: type, type, unique: true })
    const statuses = []
    for (const value of ['', '', 'x', 'x']) {
      statuses.push((await owner.post(`${w.org.path}/records/locations`, { values: { name: 'n', [`u_${type}`]: value } })).status)
    }
    t.deepEqual(statuses, [201, 201, 201, 409])
  }
})

test('records: an unknown key of a currency value is refused, so that no other currency is stored', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const misspelled = await owner.post(invoices(w), { values: { total: { amount: 5, currency: 'EUR' } } })
  t.is(misspelled.status, 400)
  t.regex(misspelled.body.error.message, /^values\.total\.currency is no key of a currency value; did you mean .*code/)
  const { data } = await owner.post(invoices(w), { values: { total: { amount: 5, code: 'EUR' } } })
  t.is((await owner.put(`${invoices(w)}/${data.id}/values`, { values: data.values })).status, 204)
})

test('records: an unknown key of a filter is refused, and a bad character is named', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const filter = [{ field: 'status', opp: 'ne', value: 'open' }]
  const search = (sent: unknown, at = '') => owner.get(`${invoices(w)}${at}?filter=${encodeURIComponent(JSON.stringify(sent))}`)
  for (const at of ['', '/export']) {
    const refused = await search(filter, at)
    t.is(refused.status, 400, at)
    t.is(refused.body.error.message, 'filter[0].opp is no key of a condition; did you mean op?')
  }
  t.is((await search([{ field: 'status', value: 'a\0' }])).body.error.message, 'filter[0].value holds a NUL character or a lone surrogate')
  t.is((await search({ field: 'status' })).body.error.message, 'filter.value is required')
  t.is(
    (await owner.get(`${invoices(w)}?filter=[`)).body.error.message,
    'filter must be the JSON of a condition {field, op, value}, an array of filters, or {all}, {any} or {not}',
  )
})
