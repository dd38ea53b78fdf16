import test from 'ava'
import { dropRarePairs } from '#shared/core/types/indexes/maintain-indexes.ts'
import { findUsedTypes } from '#shared/core/types/indexes/store.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { callKontor } from '#test/bin/call.ts'
import { explainCount, fillPairUses, readFieldUses, vacuumTable } from '#test/core/types/indexes/rows.ts'
import { usedWorld } from '#test/core/types/indexes/used.ts'
import { countRows, readColumn } from '#test/support/rows.ts'

type Leaf = readonly [field: string, op: string, value: unknown]
const leaf = ([field, op, value]: Leaf) => ({ field, op, value })
const search = (filter: unknown, rest = '') => `filter=${encodeURIComponent(JSON.stringify(filter))}${rest}`
const all = (...leaves: readonly Leaf[]) => leaves.map(leaf)
const any = (...leaves: readonly Leaf[]) => ({ any: leaves.map(leaf) })

const isNew: Leaf = ['stage', 'eq', 'new']
const isLarge: Leaf = ['price', 'gte', '900']
const day = '2026-01-03'

/** A search, and the uses that it counts. */
const counted: readonly (readonly [query: string, uses: readonly string[]])[] = [
  [search(all(isNew, isLarge)), ['equality stage', 'range price', 'range stage, price']],
  [search(all(isNew, isLarge), '&sort=price'), ['equality stage', 'range price', 'descending price', 'descending stage, price']],
  [search(all(['stage', 'in', ['new', 'won']]), '&sort=due&dir=asc'), ['equality stage', 'ascending due', 'ascending stage, due']],
  [search(all(['count', 'eq', '7']), '&sort=count'), ['equality count', 'descending count']],
  [search(all(isNew, ['seen', 'eq', day])), ['equality stage', 'range seen', 'range stage, seen']],
  [search(all(['seen', 'in', [day]], isLarge)), ['range price']],
  [search(all(['seen', 'in', ['2026-01-03T00:00:00Z']])), ['equality seen']],
  [search(any(isNew, isLarge)), ['equality stage', 'range price']],
  [search(any(isNew, ['name', 'ne', 'x'])), []],
  [search(any(isNew, ['seen', 'in', [day]])), []],
  [search([any(isNew, isLarge), leaf(['count', 'gt', '5'])]), ['equality stage', 'range price', 'range count']],
  [search({ any: [{ all: all(isNew, ['name', 'ne', 'x']) }, leaf(isLarge)] }), ['equality stage', 'range price']],
  [search([{ not: leaf(isNew) }, leaf(isLarge)]), ['range price']],
]

test('pairs: what a search counts is what an index can serve', async (t) => {
  const w = await usedWorld(t, 0)
  const keyOf = (id: string | undefined) => Object.keys(w.fields).find((key) => w.idOf(key) === id)
  let before = new Map<string, number>()
  // The first search may find that the type has changed, and repeat its read.
  await w.org.owner.get(`${w.records}?limit=1`)
  for (const [query, uses] of counted) {
    t.is((await w.org.owner.get(`${w.records}?${query}`)).status, 200, query)
    await w.api.services.fieldUses.flush()
    const after = new Map<string, number>()
    for (const { field_id, use, score } of await readFieldUses(w.db)) {
      const [name, lead] = use.split(':')
      after.set(`${name} ${lead === undefined ? '' : `${keyOf(lead)}, `}${keyOf(field_id)}`, score)
    }
    const added = [...after].filter(([use, score]) => score > (before.get(use) ?? 0)).map(([use]) => use)
    t.deepEqual(added.sort(), [...uses].sort(), query)
    before = after
  }
})

test('pairs: a search of many fields counts the pairs of three of each', async (t) => {
  const w = await usedWorld(t, 0)
  const equal = (['stage', 'name', 'open', 'count'] as const).map((field): Leaf => [field, 'eq', field === 'open' ? 'true' : '1'])
  const bounds = (['price', 'due', 'seen'] as const).map((field): Leaf => [field, 'gte', field === 'price' ? '1' : '2026-01-01'])
  t.is((await w.org.owner.get(`${w.records}?${search(all(...equal, ...bounds), '&sort=parts')}`)).status, 400, 'a list cannot be sorted by')
  t.is((await w.org.owner.get(`${w.records}?${search(all(...equal, ...bounds), '&sort=name')}`)).status, 200)
  await w.follow()
  t.is((await readFieldUses(w.db)).filter(({ use }) => use.includes(':')).length, 9)
})

test('pairs: the two-hundredth search of ten thousand records requests one index for both fields, which serves its count alone', async (t) => {
  const w = await usedWorld(t, 60_000)
  await w.org.owner.get(`${w.records}?limit=1`)
  const query = search(all(isNew, isLarge), '&sort=price&limit=2')
  const find = async () => (await w.org.owner.get(`${w.records}?${query}`)).data
  const found = await find()
  for (let time = 1; time < 199; time++) await find()
  t.deepEqual(await w.follow(), [])
  await find()
  await w.use('price', 'descending', 1, 'stage')
  t.true((await w.follow()).includes('build descending stage, price'))
  t.is((await w.indexes()).filter((name) => name.includes(',')).length, 1)
  t.deepEqual(await find(), found)
  const table = `${schemaOf(w.org.id)}.deals`
  await vacuumTable(w.db, table)
  const [stage, price] = [await readColumn(w.db, w.org.id, 'deals', 'stage'), await readColumn(w.db, w.org.id, 'deals', 'price')]
  const plan = await explainCount(w.db, table, `"${stage}" = 'new' and "${price}" >= 900::numeric`)
  t.regex(plan, /Index Only Scan using descending_/)
  t.regex(plan, /Heap Fetches: 0/)
})

test('pairs: a count stays exact while records change and pages await their vacuum', async (t) => {
  const w = await usedWorld(t)
  const total = async () => (await w.org.owner.get(`${w.records}?${search(all(isNew, isLarge), '&sort=price')}`)).data.total as number
  await w.use('price', 'descending', 500, 'stage')
  t.deepEqual(await w.follow(), ['build descending stage, price'])
  await vacuumTable(w.db, `${schemaOf(w.org.id)}.deals`)
  const before = await total()
  const made = await w.org.owner.post(w.records, { values: { stage: 'new', price: { amount: '950', code: 'EUR' } } })
  t.is(await total(), before + 1)
  const path = `${w.records}/${made.data.id}`
  t.is((await w.org.owner.put(`${path}/values`, { values: { stage: 'won' } })).status, 204)
  t.is(await total(), before)
  t.is((await w.org.owner.put(`${path}/values`, { values: { stage: 'new' } })).status, 204)
  t.is(await total(), before + 1)
  t.is((await w.org.owner.delete(path)).status, 204)
  t.is(await total(), before)
})

test('pairs: a type has three indexes of pairs and no fourth, and one of twenty runs at once builds them', async (t) => {
  const w = await usedWorld(t)
  const seconds = ['price', 'due', 'count', 'seen']
  for (const [place, field] of seconds.entries()) await w.use(field, 'range', 900 - 100 * place, 'stage')
  const done = await Promise.all(Array.from({ length: 20 }, () => w.follow()))
  const built = seconds.slice(0, 3).map((field) => `descending stage, ${field}`)
  t.deepEqual(done.flat().sort(), built.map((name) => `build ${name}`).sort())
  t.is(done.filter(({ length }) => length > 0).length, 1)
  t.deepEqual(await w.indexes(), built.sort())
  const listed = (await callKontor(w, 'indexes', '--json')).json.indexes
  t.deepEqual(
    listed.map(({ field, state }: { field: string; state: string }) => `${field} ${state}`),
    ['stage, price ready', 'stage, due ready', 'stage, count ready', 'stage, seen watched'],
  )
  w.clock.days = 30
  t.deepEqual((await w.follow()).sort(), built.map((name) => `drop ${name}`).sort())
  t.deepEqual(await w.indexes(), [])
})

test('pairs: of a type with thousands of them only the most used are read and kept', async (t) => {
  const w = await usedWorld(t)
  for (let n = 0; n < 50; n++) {
    const added = { entity_type: 'deals', key: `n${n}`, label: `N ${n}`, type: 'number' }
    t.is((await w.org.owner.post(`${w.org.path}/fields`, added)).status, 201)
  }
  const { database: db } = w.api.services
  const readPairs = async () => {
    const types = await findUsedTypes(db, new Date(), w.org.id)
    return types.flatMap(({ fields }) => fields.flatMap(({ uses }) => uses.filter(({ leadId }) => leadId)))
  }
  await w.use('price', 'range', 500, 'stage')
  t.deepEqual(await w.follow(), ['build descending stage, price'])
  const filled = await fillPairUses(w.db, w.org.id, 1_000)
  t.is(filled, 50 * 60)
  const read = await readPairs()
  t.is(read.length, thresholds.pairs.read)
  t.true(
    read.some(({ leadId }) => leadId === w.idOf('stage')),
    'the pair that has an index is read before others that are used more',
  )
  const scores = read.map(({ score }) => score).sort((one, other) => one - other)
  t.is(scores[1], 1_000 + filled - thresholds.pairs.read + 2, 'the others are the most used')
  const signal = new AbortController().signal
  await Promise.all(Array.from({ length: 3 }, () => dropRarePairs({ db, now: () => new Date() }, signal)))
  const kept = (await readFieldUses(w.db)).filter(({ use }) => use.includes(':'))
  t.is(kept.length, thresholds.pairs.kept)
  const lowest = kept.map(({ score }) => score).sort((one, other) => one - other)
  t.deepEqual(lowest.slice(0, 2), [500, 1_000 + filled - thresholds.pairs.kept + 2], 'the rarest without an index are deleted')
})

test('pairs: those used too rarely for an index are not read', async (t) => {
  const w = await usedWorld(t)
  const { database: db } = w.api.services
  await w.use('stage', 'equality', 500)
  for (const field of ['price', 'due']) await w.use(field, 'range', 19, 'stage')
  await w.use('count', 'range', 10, 'stage')
  await w.use('count', 'descending', 15, 'stage')
  const [type] = await findUsedTypes(db, new Date(), w.org.id)
  const paired = type?.fields.filter(({ uses }) => uses.some(({ leadId }) => leadId)).map(({ key }) => key)
  t.deepEqual(paired, ['count'], 'the uses of a pair count together')
})

for (const gone of ['stage', 'price']) {
  test(`pairs: an index goes with its field ${gone}, and a field of the same key begins without any`, async (t) => {
    const w = await usedWorld(t)
    await w.use('price', 'range', 500, 'stage')
    await w.follow()
    t.deepEqual(await w.indexes(), ['descending stage, price'])
    t.is((await w.org.owner.delete(w.fields[gone] ?? '')).status, 204)
    await w.drain()
    t.deepEqual(await w.indexes(), [])
    for (const table of ['field_indexes', 'field_uses']) t.is(await countRows(w.db, table), 0, table)
    const again = { entity_type: 'deals', key: gone, label: gone, type: 'number' }
    t.is((await w.org.owner.post(`${w.org.path}/fields`, again)).status, 201)
    t.deepEqual(await w.follow(), [])
    const op: Leaf = gone === 'stage' ? ['stage', 'eq', '1'] : ['price', 'gte', '900']
    t.is((await w.org.owner.get(`${w.records}?${search(all(op))}`)).data.total, 0)
  })
}

test('pairs: values of any length are stored beside an index of a pair', async (t) => {
  const w = await usedWorld(t)
  const texts = ['name', 'site', 'notes']
  for (const lead of [...texts, 'stage', 'parts']) for (const field of texts) await w.use(field, 'descending', 900, lead)
  t.deepEqual(await w.follow(), [])
  await w.use('name', 'descending', 900, 'count')
  t.deepEqual(await w.follow(), ['build descending count, name'])
  const random = () => String.fromCodePoint(0x1f600 + Math.floor(Math.random() * 60))
  const values = { name: Array.from({ length: 500 }, random).join(''), count: '9'.repeat(14) }
  const made = await w.org.owner.post(w.records, { values })
  t.is(made.status, 201, made.text)
})
