import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

/** Four deals, and a search of them that returns the names that match. */
async function withDeals(w: World) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const fields = [
    { key: 'name', type: 'string' },
    { key: 'stage', type: 'select', rules: { options: ['new', 'won', 'lost'] } },
    { key: 'total', type: 'number' },
    { key: 'tags', type: 'multiselect', rules: { options: ['hot', 'cold'] } },
    { key: 'parent', type: 'ref', rules: { ref_type: 'deals' } },
  ]
  for (const field of fields) await owner.post(`${path}/fields`, { entity_type: 'deals', label: field.key, ...field })
  const records = [
    { name: 'a', stage: 'new', total: 1, tags: ['hot'] },
    { name: 'b', stage: 'won', total: 2, tags: ['hot', 'cold'] },
    { name: 'c', stage: 'lost', total: 3 },
    { name: 'd', total: 4 },
  ]
  const made = await owner.post(`${path}/records/deals/batch`, {
    operations: records.map((values) => ({ op: 'create', values })),
    atomic: true,
  })
  if (made.status !== 200) throw new Error(made.text)
  const deals = `${path}/records/deals`
  const search = (filter: unknown, client = owner) =>
    client.get(`${deals}?sort=name&dir=asc&filter=${encodeURIComponent(JSON.stringify(filter))}`)
  const names = async (filter: unknown, client = owner): Promise<string> => {
    const { status, data, text } = await search(filter, client)
    return status === 200 ? data.records.map(({ values }: { values: { name: string } }) => values.name).join('') : text
  }
  return { deals, search, names }
}

const won = { field: 'stage', op: 'eq', value: 'won' }
const cheap = { field: 'total', op: 'lte', value: '2' }

test('filters: all, any and not nest, and a condition may stand where a filter may', async (t) => {
  const { names } = await withDeals(await shared())
  t.is(await names(won), 'b')
  t.is(await names([won, cheap]), 'b')
  t.is(await names({ any: [won, { field: 'name', op: 'eq', value: 'd' }] }), 'bd')
  t.is(await names({ all: [cheap, { not: won }] }), 'a')
  t.is(await names({ not: won }), 'acd')
  t.is(await names({ not: [won, cheap] }), 'acd')
  t.is(await names({ not: { field: 'stage', op: 'ne', value: 'won' } }), 'b')
  t.is(await names({ not: { field: 'total', op: 'gt', value: '3' } }), 'abc')
  t.is(await names([{ any: [[won, cheap], { all: [{ field: 'stage', op: 'empty' }] }] }]), 'bd')
  t.is(await names({ all: [] }), 'abcd')
  t.is(await names({ any: [] }), '')
  t.is(await names({ not: { any: [] } }), 'abcd')
  t.is(await names([]), 'abcd')
  t.is(await names({ field: 'tags', op: 'has', value: 'cold' }), 'b')
  t.is(await names({ field: 'tags', op: 'has_any', value: ['cold', 'hot'] }), 'ab')
  t.is(await names({ field: 'tags', op: 'empty' }), 'cd')
  t.is(await names({ field: 'stage', op: 'in', value: ['new', 'lost'] }), 'ac')
  t.is(await names({ field: 'stage', op: 'not_in', value: ['new', 'lost'] }), 'bd')
})

test('filters: the properties that every record has can be tested', async (t) => {
  const w = await shared()
  const { names, search } = await withDeals(w)
  const [first] = (await search([])).data.records
  t.is(await names({ field: 'id', value: first.id.toUpperCase() }), 'a')
  t.is(await names({ field: 'id', op: 'not_in', value: [first.id] }), 'bcd')
  t.is(await names({ field: 'created_by', op: 'eq', value: w.org.ownerId }), 'abcd')
  t.is(await names({ field: 'created_by', op: 'ne', value: w.org.ownerId }), '')
  t.is(await names({ field: 'created_at', op: 'eq', value: first.created_at.slice(0, 10) }), 'abcd')
  t.is(await names({ field: 'updated_at', op: 'gt', value: '9999-01-01' }), '')
  t.regex(await names({ field: 'id', op: 'gt', value: first.id }), /filter\.op must be one of eq, ne, in, not_in/)
  t.regex(await names({ field: 'owner', value: first.id }), /filter\.field must be a field of deals that you may read, got owner/)
})

test('filters: four levels and fifty conditions, and not one more', async (t) => {
  const { names } = await withDeals(await shared())
  const inside = (levels: number): unknown => (levels === 0 ? won : { not: inside(levels - 1) })
  t.is(await names(inside(4)), 'b')
  t.is(await names({ not: { not: { not: { not: [won, cheap] } } } }), 'b')
  t.regex(await names(inside(5)), /filter\.not\.not\.not\.not: filter must have at most 4 levels of all, any and not/)
  t.regex(await names({ not: { not: { not: { not: { any: [] } } } } }), /filter must have at most 4 levels/)
  t.is(await names({ any: Array(50).fill(won) }), 'b')
  t.regex(await names({ any: Array(51).fill(won) }), /filter must have at most 50 conditions/)
  t.regex(await names([{ all: Array(26).fill(won) }, { any: Array(25).fill(won) }]), /filter must have at most 50 conditions/)
  t.regex(await names({ any: Array(51).fill({ all: [] }) }), /filter must have at most 50 conditions/)
  t.regex(await names(Array(51).fill([])), /filter must have at most 50 conditions/)
})

test('filters: a filter of another form is refused by its path and rule', async (t) => {
  const { names } = await withDeals(await shared())
  const form = /must be a condition \{field, op, value\}, an array of filters, or \{all\}, \{any\} or \{not\}/
  for (const sent of [1, null, true, [1], { any: [null] }, { not: 'x' }]) t.regex(await names(sent), form, JSON.stringify(sent))
  t.regex(await names({ all: won }), /filter\.all must be an array of filters/)
  t.regex(await names({ all: [won], any: [won] }), /filter must have no other key beside all, got any/)
  t.regex(await names({ not: won, field: 'stage' }), /filter must have no other key beside not, got field/)
  t.regex(await names({}), /filter\.field is required/)
  t.regex(await names({ any: [won, { field: 'total', op: 'eq', value: 'x' }] }), /filter\.any\[1\]\.value for total must be a number/)
  t.regex(await names([{ not: [{ field: 'stage', op: 'in', value: 'new' }] }]), /filter\[0\]\.not\[0\]\.value must be an array/)
  t.regex(await names({ not: { fild: 'stage' } }), /filter\.not\.fild is no key of a condition; did you mean field\?/)
})

test('filters: a field that a rule could hide cannot be named at any depth', async (t) => {
  const w = await shared()
  const { names } = await withDeals(w)
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], condition: { 'resource.stage': { eq: 'won' } } },
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['deals'],
      condition: { 'resource.stage': { ne: 'won' } },
      fields: { deny: ['total'] },
    },
  ])
  t.is(await names(won, client), 'b')
  for (const [filter, path] of [
    [cheap, 'filter'],
    [{ not: cheap }, 'filter.not'],
    [{ any: [won, { all: [cheap] }] }, 'filter.any[1].all[0]'],
    [{ field: 'total', op: 'empty' }, 'filter'],
  ] as const)
    t.true((await names(filter, client)).includes(`${path}.field must be a field of deals that you may read, got total`), path)
})

test('filters: a filter of another form is refused in a body, too, by what it may be', async (t) => {
  const w = await shared()
  const { deals } = await withDeals(w)
  for (const filter of ['[]', 'x', 1, 1e300, true, null]) {
    const { status, body } = await w.org.owner.post(`${deals}/query`, { filter })
    t.is(status, 400)
    t.is(body.error.message, 'filter must be a condition {field, op, value}, an array of filters, or {all}, {any} or {not}')
  }
})

test('filters: a query by body answers as the list does', async (t) => {
  const w = await shared()
  const { deals, search } = await withDeals(w)
  const { owner } = w.org
  const filter = { any: [won, cheap] }
  const asked = await owner.post(`${deals}/query`, { filter, sort: 'name', dir: 'asc', limit: 1, page: 2, fields: 'name' })
  t.is(asked.status, 200, asked.text)
  t.is(asked.data.total, 2)
  t.deepEqual(
    asked.data.records.map(({ values }: { values: object }) => values),
    [{ name: 'b' }],
  )
  t.deepEqual((await owner.post(`${deals}/query`, { filter, sort: 'name', dir: 'asc' })).data, (await search(filter)).data)
  const first = await owner.post(`${deals}/query`, { limit: 3 })
  t.is(first.data.records.length, 3)
  const second = await owner.post(`${deals}/query`, { limit: 3, cursor: first.data.next_cursor })
  t.is(second.data.records.length, 1)
  t.regex((await owner.post(`${deals}/query`, { filter: JSON.stringify(won) })).text, /filter must be/)
  t.regex((await owner.post(`${deals}/query`, { filtr: [] })).text, /filtr is no key of .*did you mean filter\?/)
  t.is((await owner.post(`${deals}/query`, { limit: 201 })).status, 400)
  const moved = await owner.post(`${deals}/query`, { limit: 3, cursor: first.data.next_cursor, ref_field: 'parent', ref_id: w.org.id })
  t.regex(moved.body.error.message, /^cursor /)
  for (const far of [{ offset: 1e21 }, { offset: 1e15 }, { page: 1e18 }])
    t.regex((await owner.post(`${deals}/query`, far)).body.error.message, /must be at most 999999999999999/)
})

test('filters: the text that is searched for has a limit', async (t) => {
  const { names } = await withDeals(await shared())
  for (const op of ['contains', 'not_contains', 'starts_with']) {
    t.is(await names({ field: 'name', op, value: 'x'.repeat(1_000) }), op === 'not_contains' ? 'abcd' : '')
    t.is(await names({ field: 'name', op, value: '😀'.repeat(1_000) }), op === 'not_contains' ? 'abcd' : '')
    t.regex(await names({ field: 'name', op, value: 'x'.repeat(1_001) }), /filter\.value for name must be at most 1000 characters long/)
  }
})

test('filters: a query by body is kept under no Idempotency-Key', async (t) => {
  const w = await shared()
  const { deals } = await withDeals(w)
  const key = { 'idempotency-key': 'a-query' }
  t.is((await w.org.owner.post(`${deals}/query`, { filter: won }, key)).data.total, 1)
  t.is((await w.org.owner.post(`${deals}/query`, { filter: cheap }, key)).data.total, 2)
})

test('filters: an export takes the same filters', async (t) => {
  const w = await shared()
  const { deals } = await withDeals(w)
  const filter = encodeURIComponent(JSON.stringify({ any: [won, { field: 'stage', op: 'empty' }] }))
  const csv = await w.org.owner.get(`${deals}/export?sort=name&dir=asc&filter=${filter}`)
  t.deepEqual(
    csv.text
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.split(',')[2]),
    ['b', 'd'],
  )
})
