import test from 'ava'
import fc from 'fast-check'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { createRecordMatcher } from '#shared/core/records/query/filter.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { findRecords, searchRecords } from '#shared/core/records/query/search-records.ts'
import { sumRecords } from '#shared/core/records/query/sum-records.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { conditionsOn, filtersOf } from '#test/core/records/random-filters.ts'
import { createMember } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

const fields: Readonly<Record<string, { type: FieldType; rules?: object; texts: readonly string[] }>> = {
  name: { type: 'string', texts: ['Straße', 'STRASSE', 'a_b%c', 'İstanbul', ''] },
  qty: { type: 'number', texts: ['0', '-1.5', '99999999999999.999999', '1', '1.000000'] },
  total: { type: 'currency', texts: ['10', '10.5', '0', '-3'] },
  paid: { type: 'bool', texts: ['true', 'false'] },
  due: { type: 'date', texts: ['2026-02-28', '2026-03-01', '9999-12-31', '2026-02-28T23:59:59.999999Z'] },
  at: {
    type: 'datetime',
    texts: ['2026-02-28T00:00:00Z', '2026-02-28T23:59:59.999999Z', '2026-03-01', '9999-12-31', '2026-02-28T01:00:00+02:00'],
  },
  stage: { type: 'select', rules: { options: ['new', 'won'] }, texts: ['new', 'won', 'lost'] },
  tags: { type: 'multiselect', rules: { options: ['hot', 'cold', 'far'] }, texts: ['hot', 'cold', 'none'] },
  letter: { type: 'file', texts: ['a/letter.pdf', 'b.txt'] },
  links: {
    type: 'refs',
    rules: { ref_type: 'deals' },
    texts: ['01a1fbc8-8645-7571-bf7a-d5998224cc5c', '01a1fbc8-8645-7571-bf7a-d5998224cc5e'],
  },
  parent: {
    type: 'ref',
    rules: { ref_type: 'deals' },
    texts: ['01a1fbc8-8645-7571-bf7a-d5998224cc5c', '01a1fbc8-8645-7571-bf7a-d5998224cc5d'],
  },
}

async function withDeals(w: World, records: readonly object[]): Promise<Scope> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  for (const [key, { type, rules }] of Object.entries(fields)) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'deals', key, label: key, type, ...(rules && { rules }) })
    if (made.status !== 201) throw new Error(made.text)
  }
  const made = await owner.post(`${path}/records/deals/batch`, {
    operations: records.map((values) => ({ op: 'create', values })),
    atomic: true,
  })
  if (made.status !== 200) throw new Error(made.text)
  return scopeOf(w, w.org)
}

test('query: a filter finds the same records in memory and in the database', async (t) => {
  const w = await start()
  const values = Object.entries(fields).map(([key, { type, texts }]) => {
    const one = fc.constantFrom(...texts.filter((text) => suits(key, text)))
    const value: fc.Arbitrary<unknown> = type === 'multiselect' || type === 'refs' ? fc.uniqueArray(one, { maxLength: 2 }) : one
    return [key, fc.option(value)] as const
  })
  const records = fc.sample(fc.record(Object.fromEntries(values)), { numRuns: 200, seed: 7 })
  const scope = await withDeals(w, records)
  const type = await requireRecordType(scope, 'deals')
  const access = recordAccessFor(scope, type, 'records:read')
  const views = await findRecords(scope, 'deals', { limit: 1_000 })
  const stored = await findRecordsByIds(
    scope,
    type,
    views.map(({ id }) => id),
  )
  t.is(stored.length, 200)
  const [first, last] = [views[0], views.at(-1)]
  const conditions = [
    ...Object.entries(fields).flatMap(([key, { type, texts }]) => conditionsOn(key, fieldKinds[type].filter.operators, texts)),
    ...conditionsOn('id', ['eq', 'ne', 'in', 'not_in'], [first?.id ?? '', last?.id ?? '']),
    ...conditionsOn('created_by', ['eq', 'ne', 'in', 'not_in'], [first?.created_by ?? '', first?.id ?? '']),
    ...['created_at', 'updated_at'].flatMap((key) =>
      conditionsOn(key, fieldKinds.datetime.filter.operators, [first?.created_at ?? '', (last?.created_at ?? '').slice(0, 10)]),
    ),
  ]
  const combined = fc.sample(filtersOf(conditions), { numRuns: 150, seed: 11 })
  for (const filter of [...conditions, ...combined]) {
    const found = await findRecords(scope, 'deals', { filter, limit: 1_000 })
    const matches = createRecordMatcher(type, access, filter)
    t.deepEqual(
      stored.filter(matches).map(({ id }) => id),
      found.map(({ id }) => id),
      JSON.stringify(filter),
    )
  }
})

/** Whether a record can hold the text that a filter compares. */
const suits = (key: string, text: string): boolean =>
  !((key === 'due' && text.includes('T')) || (key === 'at' && !text.includes('T')) || text === 'lost' || text === 'none')

test('query: sums are exact by currency and by group', async (t) => {
  const w = await start()
  const scope = await withDeals(w, [
    { name: 'a', qty: '99999999999999.999999', total: { amount: '12345678901234.123456', code: 'EUR' }, at: '2026-01-31T23:30:00Z' },
    { name: 'a', qty: '0.000002', total: { amount: '0.000001', code: 'EUR' }, at: '2026-02-01T00:30:00Z' },
    { name: 'a', total: { amount: '5', code: 'USD' } },
    { name: 'b', qty: 1 },
    {},
  ])
  const all = await sumRecords(scope, 'deals', { sums: ['qty', 'total'] })
  t.deepEqual(all, [
    {
      by: [],
      count: 5,
      sums: {
        qty: [{ code: null, amount: '100000000000001.000001', count: 3 }],
        total: [
          { code: 'EUR', amount: '12345678901234.123457', count: 2 },
          { code: 'USD', amount: '5', count: 1 },
        ],
      },
    },
  ])
  const grouped = await sumRecords(scope, 'deals', { sums: ['total'], by: [{ field: 'name' }] })
  t.deepEqual(
    grouped.map(({ by, count, sums }) => [by[0], count, sums.total?.map(({ code }) => code)]),
    [
      ['a', 3, ['EUR', 'USD']],
      ['b', 1, []],
      [null, 1, []],
    ],
  )
  const months = await sumRecords(scope, 'deals', {
    sums: ['total'],
    by: [{ field: 'at', span: 'month', timeZone: 'Europe/Berlin' }],
    filter: { field: 'at', op: 'not_empty' },
  })
  t.deepEqual(
    months.map(({ by, count }) => [by[0], count]),
    [['2026-02', 2]],
  )
  t.deepEqual(await sumRecords(scope, 'deals', { sums: ['total'], filter: [{ field: 'name', op: 'eq', value: 'none' }] }), [])
  await t.throwsAsync(sumRecords(scope, 'deals', { sums: ['name'] }), { message: /name is a string field and cannot be added up/ })
  await t.throwsAsync(sumRecords(scope, 'deals', { sums: [], by: [{ field: 'total' }] }), { message: /cannot be grouped by/ })
})

test('query: a query shows and counts only readable records, and names nothing that may be hidden', async (t) => {
  const w = await start()
  await withDeals(w, [
    { name: 'open', stage: 'new', total: 1 },
    { name: 'half', stage: 'won', total: 2 },
    { name: 'shut', total: 4 },
  ])
  const reader = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], condition: { 'resource.stage': { eq: 'new' } } },
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['deals'],
      condition: { 'resource.stage': { eq: 'won' } },
      fields: { deny: ['total'] },
    },
  ])
  const scope = await scopeOf(w, w.org, { id: reader.id, type: 'user' })
  const names = async (query: object) =>
    (await findRecords(scope, 'deals', { limit: 10, ...query })).map(({ values }) => [values.name, values.total && 'total'])
  t.deepEqual(await names({ sort: [{ field: 'name', dir: 'asc' }] }), [
    ['half', undefined],
    ['open', 'total'],
  ])
  const hidden = { message: /must be a field of deals that you may read, got total/ }
  await t.throwsAsync(names({ filter: [{ field: 'total', op: 'gt', value: '0' }] }), hidden)
  await t.throwsAsync(sumRecords(scope, 'deals', { sums: ['total'] }), { message: /got total/ })
  const [sum] = await sumRecords(scope, 'deals', { sums: ['total'], seeing: ['total'] })
  t.deepEqual(sum, { by: [], count: 1, sums: { total: [{ code: 'USD', amount: '1', count: 1 }] } })
  t.deepEqual(await names({ seeing: ['total'], filter: [{ field: 'total', op: 'gt', value: '0' }] }), [['open', 'total']])
  const { records, total } = await searchRecords(scope, 'deals', { limit: 1, offset: 1, fields: ['stage'] })
  t.deepEqual([records.map(({ values }) => Object.keys(values)), total], [[['stage']], 2])
  const ids = (await findRecords(await scopeOf(w, w.org), 'deals', { limit: 10 })).map(({ id }) => id)
  t.is((await findRecords(scope, 'deals', { ids: [...ids, 'no id'], limit: 10 })).length, 2)
  const nobody = await createMember(w, w.org)
  await t.throwsAsync(findRecords(await scopeOf(w, w.org, { id: nobody.id, type: 'user' }), 'deals', { limit: 1 }), { code: 'FORBIDDEN' })
})
