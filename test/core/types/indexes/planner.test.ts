import test from 'ava'
import { usesBeforePrepared } from '#shared/core/records/query/statement-cache.ts'
import { listIndexes } from '#shared/core/types/indexes/list-indexes.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { estimateMatches, readFieldUses } from '#test/core/types/indexes/rows.ts'
import { filterBy as filter, usedWorld } from '#test/core/types/indexes/used.ts'
import { readColumn } from '#test/support/rows.ts'
import { takeSent } from '#test/support/watch/sent.ts'

const someId = 'f1c15925-8841-1002-af34-0cbaedd6fc33'

/** A search, the use that it counts as, and the index that it gets. An index that keeps an order also finds values. */
const cases: readonly (readonly [query: string, field: string, use: string, kind: string])[] = [
  [filter('name', 'eq', 'Deal number 77'), 'name', 'equality', 'value'],
  [filter('stage', 'eq', 'none'), 'stage', 'equality', 'value'],
  [filter('price', 'gt', '999'), 'price', 'range', 'ascending'],
  [filter('count', 'eq', '77'), 'count', 'equality', 'value'],
  [filter('seen', 'eq', '2026-01-03'), 'seen', 'range', 'value'],
  [filter('seen', 'gte', '2027-05-01T00:00:00Z'), 'seen', 'range', 'value'],
  [filter('open', 'eq', 'true'), 'open', 'equality', 'value'],
  [filter('site', 'eq', 'https://example.com/77'), 'site', 'equality', 'hash'],
  [filter('notes', 'eq', 'nothing'), 'notes', 'equality', 'hash'],
  [filter('name', 'contains', 'number 4711'), 'name', 'contains', 'trigram'],
  ['q=deal+4711', 'notes', 'search', 'trigram'],
  ['sort=price&dir=asc', 'price', 'ascending', 'ascending'],
  ['sort=due', 'due', 'descending', 'descending'],
  [`ref_field=parts&ref_id=${someId}`, 'parts', 'reference', 'entries'],
]

test('planner: each search gets the index that the planner uses, and finds the same records', async (t) => {
  const w = await usedWorld(t)
  const find = async (query: string) => (await w.org.owner.get(`${w.records}?${query}`)).data
  const found = new Map<string, unknown>()
  for (const [query, field, use] of cases) {
    found.set(query, await find(query))
    await w.api.services.fieldUses.flush()
    const uses = await readFieldUses(w.db)
    t.true(
      uses.some((one) => one.field_id === w.idOf(field) && one.use === use),
      `${query} counts as ${use}`,
    )
    await w.use(field, use, 200)
  }
  await w.follow()
  t.deepEqual(await w.indexes(), [...new Set(cases.map(([, field, , kind]) => `${kind} ${field}`))].sort())
  const idle = async () => {
    const listed = await listIndexes(w.api.services.database, new Date(), null)
    return listed.filter(({ scans }) => scans === 0).map(({ kind, field }) => `${kind} ${field}`)
  }
  // Connections report the scans of an index with a delay.
  for (let unused = await idle(); unused.length > 0; unused = await idle()) {
    for (const [query, field, , kind] of cases) {
      if (unused.includes(`${kind} ${field}`)) t.deepEqual(await find(query), found.get(query))
    }
  }
})

test('planner: a search whose plan depends on its values is planned each time; other frequent searches keep their plan', async (t) => {
  const w = await usedWorld(t, 0)
  const isNamed = async (query: string) => {
    takeSent()
    t.is((await w.org.owner.get(`${w.records}?${query}`)).status, 200)
    return Boolean(takeSent().find(({ text }) => text.includes('"deals"'))?.name)
  }
  for (const query of ['q=abc', filter('name', 'contains', 'abc'), filter('count', 'gt', '1'), `ref_field=parts&ref_id=${someId}`])
    t.false(await isNamed(query), query)
  for (const query of ['limit=5', `ref_field=owner_id&ref_id=${someId}`]) t.true(await isNamed(query), query)
  for (const query of ['sort=count', filter('name', 'eq', 'abc')]) {
    for (let use = 1; use < usesBeforePrepared; use++) t.false(await isNamed(query), `${query}, use ${use}`)
    t.true(await isNamed(query), query)
  }
})

test('planner: with an index on trigrams the planner estimates the number of matches', async (t) => {
  const w = await usedWorld(t)
  await w.use('name', 'contains', 200)
  t.deepEqual(await w.follow(), ['build trigram name', 'sample trigram name'])
  const column = await readColumn(w.db, w.org.id, 'deals', 'name')
  const expected = (text: string) => estimateMatches(w.db, `${schemaOf(w.org.id)}.deals`, column, text)
  t.true((await expected('number')) > 10_000, 'nine in ten of 12,000 match')
  t.true((await expected('zoe')) < 100)
})
