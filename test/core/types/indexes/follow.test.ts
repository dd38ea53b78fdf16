import test from 'ava'
import { readFieldUses, setRecordCounts } from '#test/core/types/indexes/rows.ts'
import { filterBy, usedWorld } from '#test/core/types/indexes/used.ts'
import { createMember } from '#test/support/factories.ts'

test('follow: the two-hundredth filter of ten thousand records requests an index, and fewer records never do', async (t) => {
  const w = await usedWorld(t)
  // The first search may find that the type has changed, and repeat its read.
  await w.org.owner.get(`${w.records}?limit=1`)
  const filter = () => w.org.owner.get(`${w.records}?limit=1&${filterBy('count', 'eq', '7')}`)
  for (let time = 0; time < 199; time++) await filter()
  t.deepEqual(await w.follow(), [])
  await filter()
  t.deepEqual(await w.follow(), ['build value count'])
  t.deepEqual(await w.indexes(), ['value count'])
  t.deepEqual(await w.follow(), [], 'nothing is left to do')
  const small = await usedWorld(t, 9_999)
  await small.use('count', 'equality', 100_000)
  t.deepEqual(await small.follow(), [])
})

test('follow: one of twenty runs at once builds the index', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'range', 500)
  await w.use('name', 'contains', 500)
  const done = await Promise.all(Array.from({ length: 20 }, () => w.follow()))
  t.deepEqual(done.flat().sort(), ['build trigram name', 'build value count', 'sample trigram name'])
  t.is(done.filter(({ length }) => length > 0).length, 1)
  t.deepEqual(await w.indexes(), ['trigram name', 'value count'])
})

test('follow: an index stays through weeks without use, is dropped after long disuse, and is built again when it is wanted', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 300)
  await w.follow()
  for (const days of [1, 7, 13]) {
    w.clock.days = days
    t.deepEqual(await w.follow(), [], `after ${days} days`)
  }
  w.clock.days = 30
  t.deepEqual(await w.follow(), ['drop value count'])
  t.deepEqual(await w.indexes(), [])
  await w.use('count', 'equality', 199)
  t.deepEqual(await w.follow(), [], 'uses of a month ago no longer count')
  await w.use('count', 'equality', 2)
  t.deepEqual(await w.follow(), ['build value count'])
})

test('follow: a type that has become small loses its indexes', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 1_000)
  await w.follow()
  await setRecordCounts(w.db, w.org.id, 6_000)
  t.deepEqual(await w.follow(), [])
  await setRecordCounts(w.db, w.org.id, 4_000)
  t.deepEqual(await w.follow(), ['drop value count'])
})

test('follow: an index that keeps the order of a field replaces the one of its values', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 1_000)
  t.deepEqual(await w.follow(), ['build value count'])
  await w.use('count', 'descending', 300)
  t.deepEqual(await w.follow(), ['build descending count', 'drop value count'])
  t.deepEqual(await w.indexes(), ['descending count'])
  w.clock.days = 12
  await w.use('count', 'equality', 1_000)
  w.clock.days = 40
  await w.use('count', 'equality', 10)
  t.deepEqual(await w.follow(), [], 'it stays for these uses')
})

test('follow: values of any length are stored with every index', async (t) => {
  const w = await usedWorld(t)
  for (const use of ['equality', 'contains', 'search', 'ascending', 'descending', 'range']) {
    for (const field of ['name', 'site', 'notes']) await w.use(field, use, 1_000)
  }
  await w.follow()
  const indexes = await w.indexes()
  for (const kind of ['hash', 'trigram']) for (const field of ['site', 'notes']) t.true(indexes.includes(`${kind} ${field}`))
  t.true(indexes.includes('ascending name') && indexes.includes('descending name') && indexes.includes('trigram name'))
  const longest = { name: '\u{1f600}'.repeat(500), notes: randomText(100_000), site: `https://example.com/${randomText(2_000)}` }
  const made = await w.org.owner.post(w.records, { values: longest })
  t.is(made.status, 201, made.text)
  for (const [field, value] of Object.entries(longest).filter(([field]) => field !== 'notes')) {
    t.is((await w.org.owner.get(`${w.records}?${filterBy(field, 'eq', value)}`)).data.total, 1)
  }
})

test('follow: uses by the rules of callers count', async (t) => {
  const w = await usedWorld(t)
  const onStage = (stage: string) => ({ effect: 'allow', actions: ['records:read'], condition: { 'resource.stage': { eq: stage } } })
  const denied = { effect: 'deny', actions: ['records:read'], condition: { 'resource.count': { in: [1, 2] } } }
  const { client } = await createMember(w, w.org, [onStage('new'), onStage('lost'), denied])
  const { client: free } = await createMember(w, w.org, [onStage('new'), { effect: 'allow', actions: ['records:read'] }])
  await free.get(w.records)
  t.is((await client.get(w.records)).data.records.length, 50)
  await client.get(`${w.records}?sort=created_at`)
  await w.follow()
  t.deepEqual(await readFieldUses(w.db), [{ field_id: w.idOf('stage'), use: 'equality', score: 2 }])
})

test('follow: a search that is refused or has no trigram does not count', async (t) => {
  const w = await usedWorld(t, 0)
  const policy = [{ effect: 'allow', actions: ['records:read'], fields: { deny: ['price', 'notes'] } }]
  const { client } = await createMember(w, w.org, policy)
  const refused = [
    filterBy('price', 'gt', '1'),
    'sort=price',
    filterBy('count', 'eq', 'many'),
    filterBy('nothing', 'eq', '1'),
    'ref_field=price&ref_id=1',
  ]
  for (const query of refused) t.is((await client.get(`${w.records}?${query}`)).status, 400, query)
  const unserved = [filterBy('name', 'contains', 'ab'), 'q=a%25', filterBy('name', 'ne', 'abc'), 'sort=created_at', 'offset=0']
  for (const query of unserved) t.is((await client.get(`${w.records}?${query}`)).status, 200, query)
  await w.follow()
  t.deepEqual(await readFieldUses(w.db), [])
  await client.get(`${w.records}?q=abc`)
  await w.follow()
  const uses = await readFieldUses(w.db)
  t.deepEqual(uses, [{ field_id: w.idOf('name'), use: 'search', score: 1 }], 'hidden text is neither searched nor counted')
})

const randomText = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('')
