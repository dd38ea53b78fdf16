import test from 'ava'
import { comparisonSql } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { countTrigrams } from '#shared/core/types/indexes/sample-field.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'
import { explainSearch, readTrigrams, replaceInColumn, setCommonTrigrams } from '#test/core/types/indexes/rows.ts'
import { filterBy, type UsedWorld, usedWorld } from '#test/core/types/indexes/used.ts'
import { readColumn } from '#test/support/rows.ts'
import { takeSent } from '#test/support/watch/sent.ts'

const kept = (w: UsedWorld) => readTrigrams(w.db, w.idOf('name'))

/** The number of deals whose name contains this text, and whether the search used the known trigrams. */
async function search(w: UsedWorld, text: string): Promise<readonly [total: number, isByLetters: boolean]> {
  takeSent()
  const { data } = await w.org.owner.get(`${w.records}?limit=1&${filterBy('name', 'contains', text)}`)
  // The last one, since a search that finds an outdated type is repeated.
  const sent = takeSent().findLast(({ text }) => text.includes('"deals"'))
  return [data.total, sent?.text.includes('collate "C" like') === true]
}

async function nameColumn(w: UsedWorld): Promise<readonly [table: string, column: string]> {
  return [`${schemaOf(w.org.id)}.deals`, await readColumn(w.db, w.org.id, 'deals', 'name')]
}

test('sample: trigrams that nearly all values share are known from the index’s creation until it is dropped', async (t) => {
  const w = await usedWorld(t)
  t.deepEqual(await search(w, 'NUMBER 4711'), [1, false])
  await w.use('name', 'contains', 1_000)
  t.deepEqual(await w.follow(), ['build trigram name', 'sample trigram name'])
  const { common = [], frequent = [] } = (await kept(w)) ?? {}
  for (const trigram of ['  d', 'dea', 'al ', 'ber']) t.true(common.includes(trigram), trigram)
  for (const trigram of ['471', '711']) t.false([...common, ...frequent].includes(trigram), trigram)
  t.deepEqual(await search(w, 'NUMBER 4711'), [1, true])
  t.deepEqual(await search(w, '4711'), [1, true])
  t.deepEqual(await search(w, 'number'), [10_800, false], 'no part of it is rare')

  const [table, column] = await nameColumn(w)
  await replaceInColumn(w.db, table, column, 'number', 'no.')
  t.deepEqual(await search(w, 'NUMBER 4711'), [0, true], 'outdated trigrams do not change the result')
  t.is((await search(w, 'no. 4711'))[0], 1)
  w.clock.days = 0.9
  t.deepEqual(await w.follow(), [])
  w.clock.days = 1
  t.deepEqual(await w.follow(), ['sample trigram name'])
  t.false((await kept(w))?.common.includes('ber'))
  t.deepEqual(await search(w, 'no. 4711'), [1, true])
  t.deepEqual(await w.follow(), [])

  w.clock.days = 27
  t.deepEqual(await w.follow(), ['drop trigram name'])
  t.is(await kept(w), undefined)
  t.deepEqual(await search(w, 'no. 4711'), [1, false])
})

test('sample: the index is searched for the rare part only, and q does so in every field', async (t) => {
  const w = await usedWorld(t)
  for (const field of ['name', 'notes']) await w.use(field, 'search', 1_000)
  await w.follow()
  const [table, column] = await nameColumn(w)
  const comparison = containsText('Deal Number 4711', {
    common: new Set((await kept(w))?.common),
    frequent: new Set((await kept(w))?.frequent),
  })
  const where = comparisonSql(column, comparison, comparison.values)
  const { text, values } = buildStatement(builder.raw(explainSearch(table), [where]))
  const plan = JSON.stringify((await w.db.query(text, [...(values ?? [])])).rows)
  t.regex(plan, /"Index Cond":"\(lower\([^"]* ~~ '% ?4711%'::text\)"/)
  t.regex(plan, /"Filter":"[^"]* ~~ '%deal number 4711%'::text\)"/)

  takeSent()
  const found = await w.org.owner.get(`${w.records}?q=Deal+4711`)
  t.deepEqual([found.data.total, found.data.records[0].values.notes.slice(0, 31)], [1, 'What was said about deal 4711 a'])
  const asked = takeSent().map(({ text }) => text.split('collate "C" like').length - 1)
  t.is(Math.max(...asked), 2 * 2, 'for each field, in the count and in the page')
})

test('sample: a wrong list changes no results', async (t) => {
  const w = await usedWorld(t)
  for (const field of ['name', 'notes']) await w.use(field, 'search', 1_000)
  await w.follow()
  const queries = ['q=deal+4711', 'q=4711', filterBy('name', 'contains', '471'), filterBy('notes', 'contains', 'deal 999 and'), 'q=ber+99']
  const find = async (query: string) => (await w.org.owner.get(`${w.records}?${query}`)).data
  const found = await Promise.all(queries.map(find))
  for (const wrong of [['  4', '471', '711', '11 '], [' 99', '999'], []]) {
    await setCommonTrigrams(w.db, wrong)
    t.deepEqual(await Promise.all(queries.map(find)), found)
  }
})

test('sample: few values give no list, and many trigrams give the most common ones', (t) => {
  const { sample, trigrams } = thresholds
  t.deepEqual(countTrigrams(Array(sample.least - 1).fill('abc')), { common: [], frequent: [] })
  t.deepEqual(countTrigrams(Array(sample.least).fill('abc')), { common: ['  a', ' ab', 'abc', 'bc '], frequent: [] })
  const shares = { aaa: 200, bbb: 20, ccc: 19, ddd: 4, eee: 3 }
  const mixed = Array.from({ length: 200 }, (_, index) =>
    Object.entries(shares)
      .flatMap(([word, count]) => (index < count ? [word] : []))
      .join(' '),
  )
  const { common, frequent } = countTrigrams(mixed)
  t.deepEqual(
    [common.filter((one) => !one.includes(' ')), frequent.filter((one) => !one.includes(' '))],
    [
      ['aaa', 'bbb'],
      ['ccc', 'ddd'],
    ],
  )
  const words = Array.from({ length: trigrams.most }, (_, index) => `${String.fromCodePoint(0x4e00 + index)}語文`)
  const many = countTrigrams(Array.from({ length: 200 }, (_, index) => (index % 100 === 0 ? 'abc' : `abc ${words.join(' ')}`)))
  t.is(many.common.length + many.frequent.length, trigrams.most)
  t.true(many.common.includes('abc'))
})
