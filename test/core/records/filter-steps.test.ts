import { randomUUID } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { createRecordMatcher } from '#shared/core/records/query/filter.ts'
import { type Condition, type Filter, partsOf, stepOf } from '#shared/core/records/query/filter-tree.ts'
import { compileQuery } from '#shared/core/records/query/query.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { findRecords, searchRecords } from '#shared/core/records/query/search-records.ts'
import { pageWithTotal, totalOf } from '#shared/core/records/query/search-store.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { conditionsOn, filtersOf } from '#test/core/records/random-filters.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

const values: Readonly<Record<string, readonly [type: FieldType, ...texts: string[]]>> = {
  name: ['string', 'Ada', 'Bo', ''],
  size: ['number', '1', '5', '9'],
  tags: ['multiselect', 'hot', 'cold'],
}
const references: Readonly<Record<string, string>> = { customer: 'customers', payer: 'customers', parent: 'deals' }

/** Customers and deals with the same fields; a deal names two customers and another deal, each of which may be missing or gone. */
async function withDeals(w: World): Promise<Org> {
  const org = await createOrg(w)
  const { owner, path } = org
  for (const key of ['customers', 'deals']) {
    await owner.post(`${path}/types`, { key, label: key })
    for (const [field, [type]] of Object.entries(values))
      await addField(org, { entity_type: key, key: field, type, ...(type === 'multiselect' && { rules: { options: ['hot', 'cold'] } }) })
  }
  for (const [key, type] of Object.entries(references))
    await addField(org, { entity_type: 'deals', key, type: 'ref', rules: { ref_type: type } })
  const customers = await create(org, 'customers', fc.sample(fc.record(valuesOf()), { numRuns: 12, seed: 3 }))
  const deals = await create(org, 'deals', fc.sample(fc.record(valuesOf()), { numRuns: 20, seed: 5 }))
  const reference = (ids: readonly string[]) => fc.option(fc.constantFrom(...ids, randomUUID()))
  const named = { customer: reference(customers), payer: reference(customers), parent: reference(deals) }
  await create(org, 'deals', fc.sample(fc.record({ ...valuesOf(), ...named }), { numRuns: 80, seed: 7 }))
  return org
}

const valuesOf = () =>
  Object.fromEntries(
    Object.entries(values).map(([key, [type, ...texts]]): [string, fc.Arbitrary<unknown>] => {
      const one = fc.constantFrom(...texts)
      const value: fc.Arbitrary<unknown> = type === 'multiselect' ? fc.uniqueArray(one) : one
      return [key, fc.option(value)]
    }),
  )

async function addField({ owner, path }: Org, field: { readonly key: string; readonly [rest: string]: unknown }): Promise<void> {
  const made = await owner.post(`${path}/fields`, { label: field.key, ...field })
  if (made.status !== 201) throw new Error(made.text)
}

async function create({ owner, path }: Org, type: string, records: readonly object[]): Promise<string[]> {
  const operations = records.map((each) => ({ op: 'create', values: each }))
  const made = await owner.post(`${path}/records/${type}/batch`, { operations, atomic: true })
  if (made.status !== 200) throw new Error(made.text)
  return made.data.results.map(({ record }: { readonly record: { readonly id: string } }) => record.id)
}

/** A record whose values are all missing, like those of a record that does not exist. */
const missing = { id: null, created_by: null, created_at: null, updated_at: null, values: {} } as unknown as StoredRecord

/** Judges the deals that `scope` may read, one condition at a time and in memory; `owner` reads all records. */
async function judgeOf(owner: Scope, scope: Scope) {
  const types = new Map<string, { readonly type: RecordType; readonly stored: ReadonlyMap<string, StoredRecord> }>()
  for (const key of ['customers', 'deals']) {
    const type = await requireRecordType(scope, key)
    const ids = (await findRecords(owner, key, { limit: 1_000 })).map(({ id }) => id)
    types.set(key, { type, stored: new Map((await findRecordsByIds(owner, type, ids)).map((record) => [record.id, record])) })
  }
  const tests = new Map<string, (record: StoredRecord) => boolean>()
  const meets = (typeKey: string, condition: Condition, record: StoredRecord | undefined): boolean => {
    const name = JSON.stringify([typeKey, condition, record === undefined])
    const type = types.get(typeKey)?.type as RecordType
    const test = tests.get(name) ?? createRecordMatcher(type, recordAccessFor(record ? scope : owner, type, 'records:read'), condition)
    tests.set(name, test)
    return test(record ?? missing)
  }
  const judge = (filter: Filter, deal: StoredRecord): boolean => {
    const parts = partsOf(filter, '')
    if (parts?.joinedBy === 'not') return !parts.filters.some((part) => judge(part.filter, deal))
    if (parts?.joinedBy === 'or') return parts.filters.some((part) => judge(part.filter, deal))
    if (parts) return parts.filters.every((part) => judge(part.filter, deal))
    const condition = filter as Condition
    const [key, field] = stepOf(condition.field) ?? []
    if (key === undefined || field === undefined) return meets('deals', condition, deal)
    const target = references[key] ?? ''
    return meets(target, { ...condition, field }, types.get(target)?.stored.get(String(deal.values[key])))
  }
  const { type, stored } = types.get('deals') as { type: RecordType; stored: ReadonlyMap<string, StoredRecord> }
  const access = recordAccessFor(scope, type, 'records:read')
  const readable = [...stored.values()].filter(access.test)
  return (filter: Filter) => readable.filter((deal) => judge(filter, deal)).map(({ id }) => id)
}

const conditions: readonly Condition[] = ['', 'customer.', 'payer.', 'parent.'].flatMap((step) =>
  Object.entries(values).flatMap(([key, [type, ...texts]]) => conditionsOn(`${step}${key}`, fieldKinds[type].filter.operators, texts)),
)

const readsSome = [
  { effect: 'allow', actions: ['records:read'], resources: ['customers'], condition: { 'resource.size': { lt: 6 } } },
  { effect: 'allow', actions: ['records:read'], resources: ['deals'], condition: { 'resource.name': { ne: 'Bo' } } },
]

test('filter steps: random filters find what their conditions say one by one, for the owner and for a reader of some', async (t) => {
  const w = await start()
  const org = await withDeals(w)
  const reader = await createMember(w, org, readsSome)
  const owner = await scopeOf(w, org)
  for (const scope of [owner, await scopeOf(w, org, { id: reader.id, type: 'user' })]) {
    const judge = await judgeOf(owner, scope)
    t.true(judge([]).length > 20)
    for (const filter of [...conditions, ...fc.sample(filtersOf(conditions), { numRuns: 100, seed: 11 })]) {
      const judged = judge(filter)
      const found = await searchRecords(scope, 'deals', { filter, limit: 1_000 })
      t.deepEqual([found.records.map(({ id }) => id), found.total], [judged, judged.length], JSON.stringify(filter))
    }
  }
})

const times = (text: string, part: string): number => text.split(part).length - 1

test('filter steps: all conditions of a step find its records once', async (t) => {
  const w = await start()
  const org = await withDeals(w)
  const scope = await scopeOf(w, org)
  const type = await requireRecordType(scope, 'deals')
  const access = recordAccessFor(scope, type, 'records:read')
  const lookups = async (filter: Filter, target: string) => {
    const query = await compileQuery(scope, type, access, { filter })
    const [total, page] = [totalOf(type, query), pageWithTotal(type, access, query)].map(({ text }) => times(text, `."${target}"`))
    t.is(page, 2 * (total ?? 0))
    return total
  }
  const negative = Array.from({ length: 25 }, (_, index): Condition => ({ field: 'customer.name', op: 'ne', value: `name ${index}` }))
  t.is(await lookups(negative, 'customers'), 1)
  t.is(await lookups([{ any: negative }, { not: { all: negative } }], 'customers'), 1)
  t.is(await lookups({ field: 'customer.name', op: 'ne', value: 'x' }, 'customers'), 1)
  t.is(await lookups({ field: 'customer.name', op: 'eq', value: 'x' }, 'customers'), 1)
  t.is(await lookups([{ field: 'customer.name', op: 'eq', value: 'x' }, ...negative], 'customers'), 1)
  const positive = [
    { field: 'customer.name', op: 'eq', value: 'x' },
    { field: 'customer.size', op: 'gt', value: '1' },
  ]
  t.is(await lookups({ any: [...positive, { field: 'size', op: 'eq', value: '1' }] }, 'customers'), 1)
  t.is(await lookups([positive[0] ?? [], { any: [positive[1] ?? [], { field: 'size', op: 'eq', value: '1' }] }], 'customers'), 1)
  const ofPayer = negative.map((condition) => ({ ...condition, field: 'payer.size', value: '1' }))
  t.is(await lookups([...negative, ...ofPayer], 'customers'), 2)
})
