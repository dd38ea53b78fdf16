import { randomUUID } from 'node:crypto'
import test from 'ava'
import { listOrSearch } from '#shared/core/records/query/list-or-search.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

interface Shown {
  readonly id: string
  readonly values: Readonly<Record<string, unknown>>
  readonly expanded?: Readonly<Record<string, Shown | null | readonly Shown[]>>
}

/** The record that a field of `record` was expanded to. */
function one(record: Shown | undefined, field: string): Shown {
  const value = record?.expanded?.[field]
  if (!value || 'length' in value) throw new Error(`${field} expands to no record`)
  return value
}

/** The records that a field of `record` was expanded to. */
function several(record: Shown | undefined, field: string): readonly Shown[] {
  const value = record?.expanded?.[field]
  if (!value || !('length' in value)) throw new Error(`${field} expands to no records`)
  return value
}

/** Two owners, three customers and six deals that name them, and calls that read the deals. */
async function withCustomers(w: World) {
  const org = await createOrg(w)
  const { owner, path } = org
  for (const key of ['owners', 'customers', 'deals']) await owner.post(`${path}/types`, { key, label: key })
  const addField = (entity: string, key: string, type: string, rules?: object) =>
    owner.post(`${path}/fields`, { entity_type: entity, key, label: key, type, ...(rules && { rules }) })
  await addField('owners', 'name', 'string')
  await addField('customers', 'name', 'string')
  await addField('customers', 'size', 'number')
  await addField('customers', 'owner_ref', 'ref', { ref_type: 'owners' })
  await addField('deals', 'name', 'string')
  await addField('deals', 'customer', 'ref', { ref_type: 'customers' })
  await addField('deals', 'others', 'refs', { ref_type: 'customers' })
  await addField('deals', 'total', 'number')
  const add = async (type: string, values: object): Promise<string> => {
    const made = await owner.post(`${path}/records/${type}`, { values })
    if (made.status !== 201) throw new Error(made.text)
    return made.data.id
  }
  const [ida, otto] = [await add('owners', { name: 'Ida' }), await add('owners', { name: 'Otto' })]
  const big = await add('customers', { name: 'Big', size: 9, owner_ref: ida })
  const small = await add('customers', { name: 'Small', size: 1, owner_ref: otto })
  const empty = await add('customers', {})
  const gone = randomUUID()
  const ids = {
    a: await add('deals', { name: 'a', customer: big, others: [small, gone, big, small], total: 1 }),
    b: await add('deals', { name: 'b', customer: small, total: 2 }),
    c: await add('deals', { name: 'c', customer: empty, others: [], total: 3 }),
    d: await add('deals', { name: 'd', total: 4 }),
    e: await add('deals', { name: 'e', customer: gone, total: 5 }),
    f: await add('deals', { name: 'f', customer: big, total: 6 }),
  }
  const deals = `${path}/records/deals`
  const names = async (filter: unknown, client: Client = owner): Promise<string> => {
    const { status, data, text } = await client.post(`${deals}/query`, { filter, sort: 'name', dir: 'asc' })
    return status === 200 ? data.records.map(({ values }: Shown) => values.name).join('') : text
  }
  const expanded = async (query: string, client: Client = owner): Promise<readonly Shown[]> => {
    const { status, data, text } = await client.get(`${deals}?sort=name&dir=asc&${query}`)
    if (status !== 200) throw new Error(text)
    return data.records
  }
  return { org, deals, names, expanded, add, addField, ids, customers: { big, small, empty, gone }, owners: { ida, otto } }
}

const of = (field: string, op: string, value?: string | readonly string[]) => ({ field: `customer.${field}`, op, ...(value && { value }) })

test('references: a condition steps along a ref; without a record the value is missing', async (t) => {
  const { names, customers } = await withCustomers(await shared())
  t.is(await names(of('name', 'eq', 'Big')), 'af')
  t.is(await names(of('name', 'contains', 'SMA')), 'b')
  t.is(await names(of('name', 'ne', 'Big')), 'bcde')
  t.is(await names({ not: of('name', 'eq', 'Big') }), 'bcde')
  t.is(await names(of('name', 'empty')), 'cde')
  t.is(await names(of('name', 'not_empty')), 'abf')
  t.is(await names(of('size', 'gte', '1')), 'abf')
  t.is(await names({ not: of('size', 'gte', '1') }), 'cde')
  t.is(await names(of('name', 'not_in', ['Big', 'x'])), 'bcde')
  t.is(await names(of('name', 'not_contains', 'big')), 'bcde')
  t.is(await names(of('owner_ref', 'empty')), 'cde')
  t.is(await names(of('id', 'eq', customers.empty)), 'c')
  t.is(await names(of('created_at', 'gt', '2000-01-01')), 'abcf')
  t.is(await names([of('name', 'eq', 'Big'), of('size', 'eq', '9'), { field: 'total', op: 'gt', value: '1' }]), 'f')
  t.is(await names({ any: [of('name', 'eq', 'Small'), { field: 'name', op: 'eq', value: 'd' }] }), 'bd')
})

test('references: a step that leads nowhere is refused by its path and rule', async (t) => {
  const { names } = await withCustomers(await shared())
  const readable = (type: string, key: string) => new RegExp(`filter\\.field must be a field of ${type} that you may read, got ${key}"`)
  t.regex(await names(of('nme', 'eq', 'x')), readable('customers', 'nme'))
  t.regex(await names({ field: 'custmer.name', op: 'eq', value: 'x' }), readable('deals', 'custmer'))
  t.regex(await names(of('owner_ref.name', 'eq', 'Ida')), /filter\.field must be a field of customers itself here, got owner_ref\.name/)
  t.regex(
    await names({ field: 'others.name', op: 'eq', value: 'x' }),
    /filter\.field: others is a refs field; only a ref field can be followed/,
  )
  t.regex(await names({ field: 'name.name', op: 'eq', value: 'x' }), /filter\.field: name is a string field/)
  t.regex(await names({ field: 'id.name', op: 'eq', value: 'x' }), readable('deals', 'id'))
  t.regex(await names({ field: '.name', op: 'eq', value: 'x' }), readable('deals', ''))
  t.regex(await names(of('', 'eq', 'x')), readable('customers', ''))
  t.regex(await names(of('size', 'eq', 'x')), /filter\.value for size must be a number/)
  t.regex(await names(of('size', 'contains', '1')), /filter\.op must be one of eq, ne/)
})

test('references: aggregates and exports step too; the intake of a queue does not', async (t) => {
  const { org, deals } = await withCustomers(await shared())
  for (const [op, count, total] of [
    ['eq', 2, 7],
    ['ne', 4, 14],
  ] as const) {
    const filter = encodeURIComponent(JSON.stringify(of('name', op, 'Big')))
    const sum = await org.owner.get(`${deals}/aggregate?metrics=count,sum:total&filter=${filter}`)
    t.deepEqual(sum.data.groups, [{ by: {}, metrics: { count, 'sum:total': total } }])
    const csv = await org.owner.get(`${deals}/export?sort=name&dir=asc&filter=${filter}`)
    t.is(csv.text.trim().split(/\r?\n/).length, count + 1, csv.text)
  }
  const queue = await org.owner.post(`${org.path}/queues`, {
    name: 'Deals',
    key: 'deals',
    object_type: 'deals',
    stages: [{ key: 'new', label: 'New' }],
    intake: { mode: 'auto', filter: of('name', 'eq', 'Big') },
  })
  t.is(queue.status, 400, queue.text)
})

test('references: a step shows nothing of a record or a field that the caller may not read', async (t) => {
  const w = await shared()
  const { org, names } = await withCustomers(w)
  const allow = (resource: string, more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: [resource], ...more })
  const reader = async (...rules: object[]) => (await createMember(w, org, [allow('deals'), ...rules])).client
  const onlySmall = await reader(allow('customers', { condition: { 'resource.name': { eq: 'Small' } } }))
  t.is(await names(of('name', 'eq', 'Big'), onlySmall), '')
  t.is(await names(of('name', 'eq', 'Small'), onlySmall), 'b')
  t.is(await names(of('name', 'ne', 'Small'), onlySmall), 'de')
  t.is(await names(of('name', 'empty'), onlySmall), 'de')
  t.is(await names(of('size', 'ne', '77'), onlySmall), 'bde')
  const none = await reader()
  for (const field of ['name', 'nothing', 'id', 'owner_ref'])
    t.regex(await names(of(field, 'empty'), none), /filter\.field: customer leads to records of customers, which you may not read/)
  const masked = await reader(allow('customers', { fields: { deny: ['size'] } }))
  t.regex(await names(of('size', 'empty'), masked), /filter\.field must be a field of customers that you may read, got size/)
  const blind = (await createMember(w, org, [allow('deals', { fields: { deny: ['customer'] } }), allow('customers')])).client
  t.regex(await names(of('name', 'empty'), blind), /filter\.field must be a field of deals that you may read, got customer"/)
})

test('references: expand adds the records of ref and refs fields, and those of a second step', async (t) => {
  const { org, deals, expanded, ids, customers, owners } = await withCustomers(await shared())
  const [a, b, c, d, e] = await expanded('expand=customer.owner_ref,others')
  t.is(one(a, 'customer').values.name, 'Big')
  const between = one(a, 'customer')
  t.is(between.id, customers.big)
  t.is(one(between, 'owner_ref').id, owners.ida)
  t.false('expanded' in one(between, 'owner_ref'))
  t.deepEqual(
    several(a, 'others').map(({ id }) => id),
    [customers.small, customers.big, customers.small],
  )
  t.false('expanded' in (several(a, 'others')[0] ?? {}))
  t.is(one(b, 'customer').values.name, 'Small')
  t.deepEqual(b?.expanded?.others, [])
  t.deepEqual(one(c, 'customer').expanded, { owner_ref: null })
  t.deepEqual([d?.expanded, e?.expanded], Array(2).fill({ customer: null, others: [] }))
  const single = await org.owner.get(`${deals}/${ids.a}?expand=customer`)
  t.is(single.data.expanded.customer.values.size, 9)
  t.is(single.headers.get('etag'), (await org.owner.get(`${deals}/${ids.a}`)).headers.get('etag'))
  const plain = await org.owner.get(`${deals}?limit=1&expand=customer`)
  t.is(plain.data.records[0].expanded.customer.id, customers.big)
  const next = await org.owner.get(`${deals}?limit=1&cursor=${plain.data.next_cursor}&expand=`)
  t.deepEqual(next.data.records[0].expanded, {})
  const asked = await org.owner.post(`${deals}/query`, { expand: 'customer', fields: 'name', sort: 'name', dir: 'asc', limit: 1 })
  t.deepEqual(asked.data.records[0].values, { name: 'a' })
  t.is(asked.data.records[0].expanded.customer.id, customers.big)
})

test('references: expand has ten paths of two steps, and not one more', async (t) => {
  const { org, deals, addField } = await withCustomers(await shared())
  const get = async (expand: string) => (await org.owner.get(`${deals}?expand=${expand}`)).text
  t.regex(await get('customer.owner_ref.x'), /expand: customer\.owner_ref\.x must have at most 2 steps/)
  t.regex(await get('name'), /expand must name ref or refs fields of deals, got name/)
  t.regex(await get('customer.name'), /expand must name ref or refs fields of customers, got name/)
  t.regex(await get('created_by'), /expand must name ref or refs fields of deals, got created_by/)
  t.regex(await get(','), /expand must name ref or refs fields of deals, got "/)
  const keys = Array.from({ length: 11 }, (_, index) => `r${index}`.padEnd(3, 'x'))
  for (const key of keys) await addField('deals', key, 'ref', { ref_type: 'customers' })
  t.notRegex(await get(keys.slice(0, 10).join()), /error/)
  t.regex(await get(keys.join()), /expand must have at most 10 paths, got 11/)
})

test('references: an answer has a thousand different expanded records, and not one more', async (t) => {
  const w = await shared()
  const { org, deals } = await withCustomers(w)
  const { owner, path } = org
  const ids: string[] = []
  for (let made = 0; made < 1_001; made += 200) {
    const operations = Array.from({ length: Math.min(200, 1_001 - made) }, () => ({ op: 'create', values: { name: 'many' } }))
    const { data } = await owner.post(`${path}/records/customers/batch`, { operations, atomic: true })
    ids.push(...data.results.map(({ record }: { record: { id: string } }) => record.id))
  }
  const holders = Array.from({ length: 11 }, (_, index) => ({
    op: 'create',
    values: { name: `holder ${index}`, others: ids.slice(index * 100, index * 100 + 100), customer: ids[0] },
  }))
  await owner.post(`${deals}/batch`, { operations: holders, atomic: true })
  const read = (limit: number) =>
    owner.post(`${deals}/query`, {
      filter: { field: 'name', op: 'starts_with', value: 'holder' },
      limit,
      expand: 'others,customer',
      dir: 'asc',
    })
  const thousand = await read(10)
  t.is(thousand.status, 200, thousand.text)
  t.is(thousand.data.records[9].expanded.others.length, 100)
  t.regex((await read(11)).text, /expand must add at most 1000 different records: ask for fewer paths, or a smaller limit/)
})

test('references: the expanded records of an answer have at most ten megabytes, wherever they occur', async (t) => {
  const { org, deals, add, addField } = await withCustomers(await shared())
  await addField('customers', 'notes', 'text')
  const long = await add('customers', { name: 'long', notes: 'x'.repeat(99_000) })
  for (let made = 0; made < 2; made++) await add('deals', { name: 'full', others: Array(100).fill(long), customer: long })
  const read = (limit: number, expand: string) =>
    org.owner.post(`${deals}/query`, { filter: { field: 'name', value: 'full', op: 'eq' }, limit, expand })
  const fitting = await read(1, 'others')
  t.is(fitting.status, 200)
  t.is(fitting.data.records[0].expanded.others.length, 100)
  t.regex((await read(2, 'others')).text, /expand must make an answer of at most 10 MB/)
  t.regex((await read(1, 'others,customer')).text, /expand must make an answer of at most 10 MB/)
  t.is((await read(2, 'customer')).status, 200)
})

test('references: expand shows only what the caller may read, at each step', async (t) => {
  const w = await shared()
  const { org, expanded, deals, ids } = await withCustomers(w)
  const allow = (resource: string, more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: [resource], ...more })
  const reader = async (...rules: object[]) => (await createMember(w, org, rules)).client
  const masked = await reader(
    allow('deals'),
    allow('customers', { condition: { 'resource.name': { eq: 'Big' } }, fields: { deny: ['size'] } }),
  )
  const [a, b] = await expanded('expand=customer.owner_ref,others', masked)
  t.deepEqual(one(a, 'customer').values, { name: 'Big', owner_ref: one(a, 'customer').values.owner_ref })
  t.deepEqual(one(a, 'customer').expanded, { owner_ref: null })
  t.is(several(a, 'others').length, 1)
  t.is(b?.expanded?.customer, null)
  const none = await reader(allow('deals'))
  for (const path of ['customer', 'customer.owner_ref', 'customer.nothing'])
    t.deepEqual((await expanded(`expand=${path}`, none))[0]?.expanded, { customer: null }, path)
  t.deepEqual((await expanded('expand=others', none))[0]?.expanded, { others: [] })
  const blind = await reader(allow('deals', { fields: { deny: ['customer', 'others'] } }), allow('customers'), allow('owners'))
  const [hidden] = await expanded('expand=customer.nothing,others&fields=name', blind)
  t.deepEqual([hidden?.expanded, hidden?.values], [{ customer: null, others: null }, { name: 'a' }])
  const partly = await reader(
    allow('deals', { condition: { 'resource.name': { eq: 'a' } } }),
    allow('deals', { condition: { 'resource.name': { ne: 'a' } }, fields: { deny: ['customer'] } }),
    allow('customers'),
  )
  const list = (await partly.get(`${deals}?expand=customer&fields=total`)).data.records as readonly Shown[]
  const [first, second] = ['a', 'b'].map((name) => list.find(({ id }) => id === ids[name as 'a']))
  t.is(one(first, 'customer').values.name, 'Big')
  t.deepEqual([second?.expanded, second?.values], [{ customer: null }, { total: 2 }])
  t.is((await reader(allow('customers')).then((client) => client.get(`${deals}?expand=customer`))).status, 403)
})

test('references: the id of a record of another workspace expands to null and meets no condition', async (t) => {
  const w = await shared()
  const { names, add, expanded } = await withCustomers(w)
  const other = await withCustomers(w)
  await add('deals', { name: 'x', customer: other.customers.big })
  t.is(await names(of('name', 'eq', 'Big')), 'af')
  t.is((await expanded('expand=customer')).find(({ values }) => values.name === 'x')?.expanded?.customer, null)
})

test('references: each step is one statement, whatever the number of records', async (t) => {
  const w = await shared()
  const { org } = await withCustomers(w)
  const scope = await scopeOf(w, org)
  let statements = 0
  const db = new Proxy(scope.db, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name === 'query') statements += 1
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const count = async (limit: number, expand?: string) => {
    statements = 0
    await listOrSearch({ ...scope, db, verification: undefined }, 'deals', { limit, expand, sort: 'name', dir: 'asc' })
    return statements
  }
  await count(10, 'customer.owner_ref')
  const plain = await count(6)
  t.is((await count(6, 'customer.owner_ref')) - plain, 2)
  t.is((await count(1, 'customer.owner_ref')) - plain, 2)
  t.is((await count(6, 'customer')) - plain, 1)
})
