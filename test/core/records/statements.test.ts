import test, { type ExecutionContext } from 'ava'
import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { spanGroup, valueGroup } from '#shared/core/records/aggregate/group-values-store.ts'
import { readGroups, readMetrics } from '#shared/core/records/aggregate/read-request.ts'
import { aggregateOf } from '#shared/core/records/aggregate/store.ts'
import { auditPageStatement } from '#shared/core/records/audit/store.ts'
import { pageOfField } from '#shared/core/records/change/breakers-store.ts'
import { clearUniqueValues, nextPage, setComputedValues } from '#shared/core/records/compute/store.ts'
import { heldTexts } from '#shared/core/records/create/auto-numbers-store.ts'
import { insertRecords } from '#shared/core/records/create/insert-many-store.ts'
import type { Condition } from '#shared/core/records/query/filter-tree.ts'
import { compileQuery, type RecordQuery } from '#shared/core/records/query/query.ts'
import { listPage, recordByUniqueValue, recordsByIds, valuesByIds } from '#shared/core/records/query/read-store.ts'
import { matchesOf, pageOf, pageWithTotal, totalOf } from '#shared/core/records/query/search-store.ts'
import { sumsOf } from '#shared/core/records/query/sum-store.ts'
import { deleteRecord, findRecordById, insertRecord, lockRecordsByIds, updateRecord } from '#shared/core/records/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { sampleValues } from '#shared/core/types/indexes/build-store.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { type Columns, instant, numeric, type Params, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, type Statement, slot } from '#shared/platform/db/statements/statement.ts'
import { type FieldType, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { type AnyBuilt, buildingFiles, builtContradictions, columnContradictions } from '#test/support/built-statements.ts'
import { statementDescriber } from '#test/support/describe-statement.ts'
import { createMember } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

type Named<Value> = readonly (readonly [name: string, value: Value])[]

const rules: Partial<Record<FieldType, object>> = {
  select: { options: ['new', 'won'] },
  multiselect: { options: ['red', 'blue'] },
  ref: { ref_type: 'things' },
  refs: { ref_type: 'things' },
}

/** A type `things` with a field of every type, unique where that is possible, and two computed fields of which one is unique. */
async function createThings(w: World): Promise<void> {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'things', label: 'Things' })
  const add = async (key: string, type: FieldType, unique: boolean) => {
    const made = await owner.post(`${path}/fields`, { entity_type: 'things', key, label: key, type, unique, rules: rules[type] ?? {} })
    if (made.status !== 201) throw new Error(made.text)
    return `${path}/fields/${made.data.id}/formula`
  }
  for (const type of fieldTypes) await add(`a_${type}`, type, fieldKinds[type].canBeUnique)
  await owner.put(await add('doubled', 'currency', false), { formula: 'a_number * 2' })
  await owner.put(await add('label', 'string', true), { formula: 'CONCAT(a_string, "!")' })
  await w.drain()
}

/** A value that a filter of the type accepts. */
const operands: Partial<Record<FieldType, string>> = {
  number: '1.5',
  bool: 'true',
  date: '2026-03-01',
  datetime: '2026-03-01T08:00:00Z',
  currency: '1.5',
  ref: '01900000-0000-7000-8000-000000000000',
  refs: '01900000-0000-7000-8000-000000000000',
}
const operandOf = (type: FieldType): string => operands[type] ?? 'a text'

/** Conditions on a field with each operator. */
function conditionsOn({ key, type }: Field): readonly Condition[] {
  const operand = operandOf(type)
  return fieldKinds[type].filter.operators.flatMap((op): Condition[] => {
    if (op === 'empty' || op === 'not_empty') return [{ field: key, op }]
    if (op === 'in' || op === 'not_in' || op === 'has_any') return [{ field: key, op, value: [operand] }]
    return (type === 'datetime' ? [operand, '2026-03-01'] : [operand]).map((value) => ({ field: key, op, value }))
  })
}

/** The same conditions on the record that `a_ref` names. */
const stepsTo = (field: Field): readonly Condition[] => conditionsOn(field).map((one) => ({ ...one, field: `a_ref.${one.field}` }))

function queriesOf({ fields }: RecordType, { hideable }: RecordAccess): Named<RecordQuery> {
  const named = fields.filter(({ key }) => !hideable.has(key))
  const sort = named.filter(({ type }) => fieldKinds[type].sortable).map(({ key }) => ({ field: key, dir: 'asc' as const }))
  return [
    ['all', {}],
    ['by text', { q: 'a text' }],
    ['by a short text', { q: 'a' }],
    ['by ids', { ids: ['01900000-0000-7000-8000-000000000000'] }],
    ['seeing', { seeing: fields.map(({ key }) => key), filter: [{ field: fields[0]?.key ?? '', value: 'a text' }] }],
    ...sort.map((key) => [`sorted by ${key.field}`, { sort: [key, { field: 'created_at', dir: 'desc' }] }] as const),
    ...named.flatMap((field) => conditionsOn(field).map((filter) => [`by ${JSON.stringify(filter)}`, { q: 'a text', filter }] as const)),
    ...otherConditions.map((filter) => [`by ${JSON.stringify(filter)}`, { filter }] as const),
    ...named.flatMap((field) => stepsTo(field).map((filter) => [`by ${JSON.stringify(filter)}`, { filter }] as const)),
    ['by several steps', { filter: { not: { any: named.flatMap(stepsTo) } } }],
    ...named.map((field) => [`by not ${field.key}`, { filter: { not: { any: conditionsOn(field) } } }] as const),
  ]
}

async function searchStatements(scope: Scope, type: RecordType, access: RecordAccess): Promise<Named<AnyBuilt>> {
  const compiled = queriesOf(type, access).map(async ([name, query]): Promise<Named<AnyBuilt>> => {
    const search = await compileQuery(scope, type, access, query)
    return [
      [`page ${name}`, pageOf(type, access, search, type.longRecords)],
      [`page without hidden text ${name}`, pageOf(type, access, search, true)],
      [`page with total ${name}`, pageWithTotal(type, access, search)],
      [`total ${name}`, totalOf(type, search)],
      [`matches ${name}`, matchesOf(type, search)],
      [`sums ${name}`, sumsOf([], type.fields.filter(isSummable), search)],
    ]
  })
  return (await Promise.all(compiled)).flat()
}

const isSummable = ({ type }: Field): boolean => type === 'number' || type === 'currency'

/** Sums by each field that can group, and by the days and months of dates and instants. */
async function sumStatements(scope: Scope, type: RecordType, access: RecordAccess): Promise<Named<AnyBuilt>> {
  const query = await compileQuery(scope, type, access, { filter: [{ field: 'a_bool', op: 'eq', value: 'true' }] })
  const groups = type.fields
    .filter((field) => fieldKinds[field.type].sortable && field.type !== 'currency')
    .flatMap((field) => [valueGroup(field), ...(field.type.startsWith('date') ? [spanGroup(field, 'day'), spanGroup(field, 'month')] : [])])
  const summed = type.fields.filter(isSummable)
  return [
    ...groups.map((group, index) => [`sums by group ${index}`, sumsOf([group], summed, query)] as const),
    ['sums by all groups', sumsOf(groups, summed, query)],
    ['counts by all groups', sumsOf(groups, [], query)],
  ]
}

function recordStatements(type: RecordType, access: RecordAccess): Named<AnyBuilt> {
  const references = [undefined, ...type.fields.filter(({ type }) => type === 'ref' || type === 'refs')]
  return [
    ['find', findRecordById(type, { lock: false })],
    ['lock', findRecordById(type, { lock: true })],
    ['lock by ids', lockRecordsByIds(type)],
    ['by ids', recordsByIds(type, false)],
    ['lock and read by ids', recordsByIds(type, true)],
    ['insert', insertRecord(type)],
    ['insert many', insertRecords(type)],
    ['update', updateRecord(type)],
    ['delete', deleteRecord(type)],
    ['set computed values', setComputedValues(type)],
    ['clear unique values', clearUniqueValues(type)],
    ['recompute all', nextPage(type, 'all')],
    ['recompute empty', nextPage(type, 'empty')],
    ...type.fields.map((field) => [`values by ids of ${field.key}`, valuesByIds(type, field)] as const),
    ...type.fields.map((field) => [`page of values of ${field.key}`, pageOfField(type, field, 10)] as const),
    ...type.fields.filter(({ unique }) => unique).map((field) => [`by unique ${field.key}`, recordByUniqueValue(type, field)] as const),
    ...references.flatMap(
      (field): Named<AnyBuilt> => [
        [`list by ${field?.key}`, listPage(type, access, field, false)],
        [`next list by ${field?.key}`, listPage(type, access, field, true)],
      ],
    ),
  ]
}

/** Aggregates by groups of every kind, in each order. */
async function aggregateStatements(scope: Scope, type: RecordType, access: RecordAccess): Promise<Named<AnyBuilt>> {
  const { hideable } = access
  const query = await compileQuery(scope, type, access, { q: 'a text', filter: { field: 'a_bool', value: 'true' } })
  const money = hideable.has('a_currency') ? [] : ['sum:a_currency', 'avg:a_currency', 'distinct:a_currency']
  const metrics = readMetrics(type, hideable, ['count', 'avg:a_number', 'min:a_date', 'max:a_datetime', 'distinct:a_file', ...money].join())
  return ['', 'a_number', 'a_bool,a_date,a_ref', 'a_datetime:week,created_at:day,a_select'].flatMap((text) => {
    const groups = readGroups(type, hideable, text)
    const orders = [null, ...metrics.map((_, metric) => ({ metric })), ...groups.map((_, group) => ({ group }))]
    return orders.map(
      (by) => [`aggregate ${text} ${JSON.stringify(by)}`, aggregateOf({ groups, metrics, order: { by, dir: 'desc' } }, query)] as const,
    )
  })
}

/** Conditions on what every record has, and on days among instants. */
const otherConditions: readonly Condition[] = [
  { field: 'id', op: 'in', value: ['01900000-0000-7000-8000-000000000000'] },
  { field: 'created_by', op: 'ne', value: '01900000-0000-7000-8000-000000000000' },
  { field: 'created_at', op: 'not_in', value: ['2026-03-01', '2026-03-01T00:00:00Z'] },
  { field: 'updated_at', op: 'lte', value: '2026-03-01' },
]

/** The statements of a type, for an access to its records. */
const statementsOf = async (scope: Scope, type: RecordType, access: RecordAccess): Promise<Named<AnyBuilt>> => [
  ...recordStatements(type, access),
  ...(await searchStatements(scope, type, access)),
  ...(await sumStatements(scope, type, access)),
  ...(await aggregateStatements(scope, type, access)),
]

async function findContradictions(t: ExecutionContext, w: World, all: Named<AnyBuilt>): Promise<string[]> {
  t.log(`${all.length} statements`)
  const describe = await statementDescriber(w.db)
  const found: string[] = []
  for (const [name, built] of all) found.push(...(await builtContradictions(describe, name, built)))
  return found
}

test('statements: PostgreSQL describes each as it is declared', async (t) => {
  const w = await start()
  await createThings(w)
  const scope = await scopeOf(w, w.org)
  const type = await requireRecordType(scope, 'things')
  const access = recordAccessFor(scope, type, 'records:read')
  // Metadata and access are keys of the caches, so a type with long records needs its own.
  const long = await statementsOf(scope, { ...type, longRecords: true }, { ...access })
  t.deepEqual(await findContradictions(t, w, [...(await statementsOf(scope, type, access)), ...long]), [])
})

test('statements: PostgreSQL describes those with the conditions of a reader as they are declared', async (t) => {
  const w = await start()
  await createThings(w)
  const condition = { 'resource.a_select': { in: ['new'] }, 'resource.a_number': { gt: 5 } }
  const reader = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:*'], resources: ['things'], condition, fields: { deny: ['a_text', 'a_currency'] } },
    { effect: 'allow', actions: ['records:*'], resources: ['things'], condition: { 'resource.created_by': { eq: '$user.id' } } },
  ])
  const scope = await scopeOf(w, w.org, { id: reader.id, type: 'user' })
  const type = await requireRecordType(scope, 'things')
  const access = recordAccessFor(scope, type, 'records:read')
  t.is(access.verdict, 'some')
  t.true(access.hideable.has('a_currency'))
  t.deepEqual(await findContradictions(t, w, await statementsOf(scope, type, access)), [])
})

test('statements: PostgreSQL describes the columns of those that run once as they are declared', async (t) => {
  const w = await start()
  await createThings(w)
  const scope = await scopeOf(w, w.org)
  const type = await requireRecordType(scope, 'things')
  const access = recordAccessFor(scope, type, 'records:read')
  const readers = [{ type, access, showsDeletedRecords: false, showsEarlierFields: false }]
  const query = { object_type: 'things', from: '2026-03-01T08:00:00Z', limit: 10, offset: 0 }
  const sample = { characters: 10, percent: 1, share: 0.5, most: 10 }
  const all: Named<Statement<unknown>> = [
    ['audit', auditPageStatement(w.org.id, query, undefined)],
    ['audit of a reader', auditPageStatement(w.org.id, query, readers)],
    ['held texts', heldTexts(type, type.fieldByKey.get('a_string')?.column ?? '', ['a'])],
    ['sampled values', sampleValues(type.schema, type.key, type.fieldByKey.get('a_string')?.column ?? '', sample)],
  ]
  const describe = await statementDescriber(w.db)
  const found: string[] = []
  for (const [name, statement] of all) found.push(...(await columnContradictions(describe, name, statement)))
  t.deepEqual(found, [])
})

test('statements: the tests above know every file that builds some', (t) => {
  t.deepEqual(buildingFiles('shared/core'), [
    'shared/core/records/aggregate/store.ts',
    'shared/core/records/change/breakers-store.ts',
    'shared/core/records/compute/store.ts',
    'shared/core/records/create/insert-many-store.ts',
    'shared/core/records/query/read-store.ts',
    'shared/core/records/query/search-store.ts',
    'shared/core/records/query/sum-store.ts',
    'shared/core/records/store.ts',
  ])
})

const findKeys = 'select id, name, expires_at from access_keys where workspace_id = ?::uuid'
const query = () => builder.raw(findKeys, [slot('workspaceId')])

test('statements: the comparison finds each wrong declaration', async (t) => {
  const describe = await statementDescriber((await start()).db)
  const compare = (params: Params, columns: Columns) =>
    builtContradictions(describe, 'keys', prepareStatement(query(), { params, columns }))
  const [params, columns] = [{ workspaceId: uuid }, { id: uuid.notNull, name: text.notNull, expires_at: instant }]
  t.deepEqual(await compare(params, columns), [])
  t.deepEqual(await compare({ workspaceId: text }, columns), ['keys: the parameter workspaceId ($1) has the type uuid, declared as text'])
  t.deepEqual(await compare(params, { ...columns, name: numeric }), ['keys: the column name has the type text, declared as numeric'])
  t.deepEqual(await compare(params, { id: uuid, title: text, expires_at: instant }), ['keys: column 2 is name, declared as title'])
  t.deepEqual(await compare(params, { id: uuid, name: text }), ['keys: the columns expires_at are not declared'])
})

test('statements: the slots of a query and its declared parameters are the same', (t) => {
  t.throws(() => prepareStatement(query(), { params: {} }), {
    message: /^A built statement has the slots workspaceId, which are not declared/,
  })
  t.throws(() => prepareStatement(query(), { params: { workspaceId: uuid, id: uuid } }), {
    message: /^A built statement has no slots for the parameters id/,
  })
})
