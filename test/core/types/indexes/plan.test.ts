import test from 'ava'
import type { FieldUse } from '#shared/core/types/indexes/index-kinds.ts'
import {
  findIndexCandidates,
  planIndexSteps,
  type StoredIndex,
  type UsedField,
  type UsedType,
} from '#shared/core/types/indexes/plan-indexes.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

const now = new Date('2026-11-21T12:00:00Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)

type Uses = Partial<Record<FieldUse, number>>

const field = (
  key: string,
  type: FieldType,
  uses: Uses,
  indexes: readonly StoredIndex[] = [],
  rest: Partial<UsedField> = {},
): UsedField => ({
  id: key,
  key,
  type,
  unique: false,
  column: key,
  uses: Object.entries(uses).map(([use, score]) => ({ use: use as FieldUse, leadId: null, score, usedAt: now })),
  indexes,
  ...rest,
})

const index = (kind: StoredIndex['kind'], rest: Partial<StoredIndex> = {}): StoredIndex => ({
  kind,
  leadId: null,
  state: 'ready',
  requestedAt: daysAgo(50),
  builtAt: daysAgo(50),
  sampledAt: null,
  retryAt: null,
  failure: null,
  isBeingBuilt: false,
  sizeBytes: 0,
  scans: 0,
  scannedAt: null,
  ...rest,
})

const typeOf = (fields: readonly UsedField[], records = 1_000_000): UsedType => ({ workspaceId: 'w', key: 'deals', records, fields })
const steps = (...types: readonly UsedType[]) =>
  planIndexSteps(types, now).map(({ action, candidate }) => `${action} ${candidate.kind} ${candidate.field.key}`)

const asked: readonly (readonly [type: FieldType, uses: Uses, unique: boolean, expected: readonly string[]])[] = [
  ['number', { equality: 20 }, false, ['build value f']],
  ['number', { equality: 19 }, false, []],
  ['number', { equality: 10, range: 10 }, false, ['build value f']],
  ['number', { equality: 1_000 }, true, []],
  ['number', { range: 20 }, true, ['build value f']],
  ['number', { descending: 20, equality: 20 }, false, ['build descending f']],
  ['number', { descending: 19, equality: 20 }, false, ['build value f']],
  ['number', { descending: 20, ascending: 21, equality: 20 }, false, ['build ascending f', 'build descending f']],
  ['text', { equality: 20, descending: 20 }, false, ['build hash f']],
  ['text', { equality: 20 }, true, ['build hash f']],
  ['select', { contains: 20, equality: 21 }, false, ['build value f', 'build trigram f']],
  ['string', { search: 10, contains: 10 }, false, ['build trigram f']],
  ['ref', { equality: 1_000, reference: 1_000 }, false, []],
  ['ref', { descending: 20 }, false, ['build descending f']],
  ['refs', { reference: 20 }, false, ['build entries f']],
  ['multiselect', {}, false, []],
]

for (const [type, uses, unique, expected] of asked) {
  test(`plan: a ${unique ? 'unique ' : ''}${type} field used by ${JSON.stringify(uses)}: ${expected.join(', ') || 'nothing'}`, (t) => {
    t.deepEqual(steps(typeOf([field('f', type, uses, [], { unique })])), [...expected])
  })
}

test('plan: an index needs more uses for fewer records', (t) => {
  const least = (records: number) => {
    for (let score = 0; score <= 1_000; score++)
      if (steps(typeOf([field('f', 'number', { range: score })], records)).length > 0) return score
    return undefined
  }
  t.deepEqual([9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000].map(least), [undefined, 200, 200, 50, 50, 20])
})

test('plan: the index that saves most is built first, over all types, and indexes are dropped last', (t) => {
  const small = typeOf([field('a', 'number', { range: 300 }), field('b', 'number', {}, [index('value')])], 20_000)
  const large = typeOf([field('c', 'number', { range: 100 }), field('d', 'number', { range: 200 })])
  t.deepEqual(steps(small, large), ['build value d', 'build value c', 'build value a', 'drop value b'])
})

test('plan: a type has a maximum of indexes, and an existing one is not replaced for a small gain', (t) => {
  const many = Array.from({ length: 20 }, (_, n) => field(`f${n}`, 'number', { range: 1_000 + n }))
  t.is(steps(typeOf(many)).length, thresholds.perType)
  const full = many.slice(0, thresholds.perType).map((one) => ({ ...one, indexes: [index('value')] }))
  const [first] = full
  t.deepEqual(steps(typeOf([...full, field('new', 'number', { range: 3_900 })])), [])
  t.deepEqual(steps(typeOf([...full, field('new', 'number', { range: 4_100 })])), ['build value new', `drop value ${first?.key}`])
  t.is(
    findIndexCandidates(typeOf([...full, field('new', 'number', { range: 3_900 })]), now).filter(({ isChosen }) => isChosen).length,
    thresholds.perType,
  )
})

test('plan: q needs an index on every text field, and gets none with too many text fields', (t) => {
  const searched = (count: number) => typeOf(Array.from({ length: count }, (_, n) => field(`f${n}`, 'string', { search: 100 })))
  t.is(steps(searched(thresholds.searchedFields)).length, thresholds.searchedFields)
  t.deepEqual(steps(searched(thresholds.searchedFields + 1)), [])
})

const kept: readonly (readonly [score: number, days: number, records: number, stays: boolean])[] = [
  [0, 13, 10_000, true],
  [0, 15, 10_000, false],
  [4, 15, 10_000, false],
  [5, 15, 10_000, true],
  [5, 15, 5_000, true],
  [5, 1, 4_999, false],
]

for (const [score, days, records, stays] of kept) {
  test(`plan: an index of ${records} records with a score of ${score}, last used ${days} days ago, ${stays ? 'stays' : 'goes'}`, (t) => {
    const used = { uses: [{ use: 'range' as const, leadId: null, score, usedAt: daysAgo(days) }] }
    t.deepEqual(steps(typeOf([field('f', 'number', {}, [index('value')], used)], records)), stays ? [] : ['drop value f'])
  })
}

const looked: readonly (readonly [hours: number | null, rest: Partial<StoredIndex>, isDue: boolean])[] = [
  [null, {}, true],
  [24, {}, true],
  [23, {}, false],
  [null, { retryAt: daysAgo(-1) }, false],
]

for (const [hours, rest, isDue] of looked) {
  const when = hours === null ? 'never' : `${hours} hours ago`
  test(`plan: the sample of a trigram index, taken ${when} ${JSON.stringify(rest)}, ${isDue ? 'is' : 'is not'} due`, (t) => {
    const sampledAt = hours === null ? null : daysAgo(hours / 24)
    const kept = (kind: StoredIndex['kind']) => [index(kind, { sampledAt, ...rest })]
    t.deepEqual(steps(typeOf([field('f', 'string', { contains: 100 }, kept('trigram'))])), isDue ? ['sample trigram f'] : [])
    t.deepEqual(steps(typeOf([field('f', 'string', { equality: 100 }, kept('value'))])), [])
  })
}

test('plan: a broken or missing index is built when it is wanted and dropped otherwise; a failed one waits', (t) => {
  for (const state of ['broken', 'missing'] as const) {
    t.deepEqual(steps(typeOf([field('f', 'number', { range: 100 }, [index('value', { state })])])), ['build value f'])
    t.deepEqual(steps(typeOf([field('f', 'number', {}, [index('value', { state })])])), ['drop value f'])
    const failed = (minutes: number) => index('value', { state, retryAt: new Date(now.getTime() + minutes * 60_000) })
    t.deepEqual(steps(typeOf([field('f', 'number', { range: 100 }, [failed(1)])])), [])
    t.deepEqual(steps(typeOf([field('f', 'number', { range: 100 }, [failed(-1)])])), ['build value f'])
  }
})
