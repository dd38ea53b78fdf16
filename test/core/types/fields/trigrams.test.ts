import { randomUUID } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { lowerCase } from '#shared/core/policy/conditions/letter-case.ts'
import { comparisonSql } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { extractTrigrams, findRareParts, type KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { Database } from '#shared/platform/db/database.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

const withTrigrams = 'create extension if not exists pg_trgm'
const conditionOfText = '(select ? from (select ?::text as kept) as one)'
const trigramsOfText = 'select show_trgm($1) as kept'

const open = shareInThread(test, async () => {
  const { name, url } = await emptyDatabase(`trigrams_${randomUUID().slice(0, 8)}`)
  const value = new Database(url, { connections: 1, name: 'test', statementTimeoutMs: 10_000 })
  await value.query({ text: withTrigrams })
  const close = async () => {
    await value.close()
    await dropDatabase(name)
  }
  return { value, close }
})

const knowing = (common: string, frequent = ''): KnownTrigrams => ({ common: extractTrigrams(common), frequent: extractTrigrams(frequent) })
const email = knowing('person@example.com')
const deal = knowing('deal of')
const cases: readonly (readonly [text: string, known: KnownTrigrams, parts: readonly string[] | null])[] = [
  ['person712345@', email, ['on712345@']],
  ['person7@example.com', email, ['on7@']],
  ['712345@example', email, ['712345@']],
  ['712345@', email, ['712345@']],
  ['person', email, null],
  ['person@example.com', email, null],
  ['deal 4711', deal, [' 4711']],
  ['a deal of 10 % of 200', deal, [' 10 ', ' 200']],
  ['deals of', deal, ['als ']],
  ['ordeal 1', deal, ['orde', ' 1']],
  ['x deal', { common: new Set(['  d']), frequent: new Set() }, ['deal']],
  ['deal 12', deal, [' 12']],
  ['deal 12', knowing('deal', '12'), null],
  ['deal 4711', knowing('deal', '47'), [' 4711']],
  ['deal 4711', knowing('deal 4', '471'), null],
  ['4711', deal, ['4711']],
  ['4711', { common: new Set(), frequent: new Set() }, null],
  ['471', deal, ['471']],
  ['deal 4', deal, null],
  ['x', deal, null],
  ['', deal, null],
  ['größe der straße', knowing('der'), ['größe ', ' straße']],
  ['\u{1f600}der\u{1f600}\u{20000}\u{20001}\u{20002}', knowing('der'), ['\u{1f600}\u{20000}\u{20001}\u{20002}']],
]
for (const [index, [text, known, parts]] of cases.entries()) {
  test(`trigrams: of "${text}" the index is asked for ${JSON.stringify(parts)}, case ${index + 1}`, (t) => {
    t.deepEqual(findRareParts(text, known), parts)
  })
}

const letter = fc.constantFrom(...'aabbccABC112233 _@%\\.-éÉßΣİ\u{1f600}\u{20000}')
const someText = fc.string({ unit: letter, minLength: 1, maxLength: 30 })

/** A value; a text that occurs in it, or did before one letter was changed; and the known trigrams. */
const searches = fc
  .record({ value: someText, from: fc.nat(29), length: fc.nat(30), change: fc.option(fc.tuple(fc.nat(29), letter)) })
  .chain(({ value, from, length, change }) => {
    const all = Array.from(value)
    const text = all.slice(from % all.length, (from % all.length) + length).join('')
    if (change) all[change[0] % all.length] = change[1]
    const trigrams = [...extractTrigrams(lowerCase(value))]
    const some = (minLength: number) => fc.subarray(trigrams, { minLength }).map((chosen) => new Set(chosen))
    const known = fc.record({ common: some(Math.floor(trigrams.length / 2)), frequent: fc.oneof(fc.constant(new Set<string>()), some(0)) })
    return fc.record({ value: fc.constant(all.join('')), text: fc.constant(text), known })
  })

test('trigrams: the parts are in the text in their order and cannot be shortened', (t) => {
  const property = fc.property(searches, ({ text, known }) => {
    let rest = lowerCase(text)
    const parts = findRareParts(rest, known) ?? []
    for (const part of parts) {
      t.true(rest.includes(part))
      rest = rest.slice(rest.indexOf(part) + part.length)
    }
    for (const part of parts) t.deepEqual(findRareParts(part, known) ?? [part], [part])
  })
  t.notThrows(() => fc.assert(property, { numRuns: 2_000 }))
})

test('trigrams: with any known trigrams a text is found where it occurs and nowhere else', async (t) => {
  const db = await open()
  const holds = (value: string, text: string, known?: KnownTrigrams) => {
    const comparison = containsText(text, known)
    return builder.raw(conditionOfText, [comparisonSql('kept', comparison, comparison.values), value])
  }
  const property = fc.asyncProperty(fc.array(searches, { minLength: 20, maxLength: 20 }), async (all) => {
    const columns = all.flatMap(({ value, text, known }) => [holds(value, text), holds(value, text, known)])
    const foundInColumns = `select array[${columns.map(() => '?').join(', ')}] as found`
    const [row] = await db.query(buildStatement(builder.raw(foundInColumns, columns)))
    const found = (row as { found: boolean[] }).found
    for (const [index, { value, text }] of all.entries()) {
      const is = lowerCase(value).includes(lowerCase(text))
      t.deepEqual(found.slice(2 * index, 2 * index + 2), [is, is], JSON.stringify(all[index]))
    }
  })
  await fc.assert(property, { numRuns: 100 })
})

test('trigrams: the trigrams of a value are those that PostgreSQL computes', async (t) => {
  const db = await open()
  const property = fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'abcxyz0189 _@%\\.-'), maxLength: 30 }), async (value) => {
    const [row] = await db.query<{ kept: string[] }>({ text: trigramsOfText, values: [value] })
    t.deepEqual([...extractTrigrams(value)].sort(), [...(row?.kept ?? [])].sort(), value)
  })
  await fc.assert(property, { numRuns: 200 })
})
