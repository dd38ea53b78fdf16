import test from 'ava'
import fc from 'fast-check'
import { anyJson } from '#test/api/fuzz/from-schema.ts'
import { seedOf } from '#test/core/policy/seed.ts'
import { times } from '#test/support/depth.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const runs = times(60, 500)

const fieldTypes = ['string', 'number', 'currency', 'bool', 'date', 'multiselect', 'ref', 'refs'] as const
const keys = [...fieldTypes.map((type) => `a_${type}`), 'nothing', '__proto__', 'constructor']

/** Two types with a field of each of these types, the references to the first one. */
async function makeTypes(w: World): Promise<void> {
  const { owner, path } = w.org
  for (const entity of ['things', 'others']) {
    await owner.post(`${path}/types`, { key: entity, label: entity })
    for (const type of fieldTypes) {
      const rules =
        { multiselect: { options: ['a', 'b'] }, ref: { ref_type: 'things' }, refs: { ref_type: 'things' } }[type as string] ?? {}
      const field = { entity_type: entity, key: `a_${type}`, label: type, type, rules, unique: type === 'string' }
      const made = await owner.post(`${path}/fields`, field)
      if (made.status !== 201) throw new Error(made.text)
    }
  }
}

const index = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0.5, 1e21, '0', null, [0], {}) },
)
const reference = fc.oneof(
  { weight: 6, arbitrary: fc.record({ $of: index }) },
  { weight: 1, arbitrary: fc.record({ $of: index, more: anyJson }) },
)
const value = fc.oneof(
  { weight: 4, arbitrary: reference },
  { weight: 2, arbitrary: fc.array(fc.oneof(reference, fc.uuid(), anyJson), { maxLength: 3 }) },
  { weight: 1, arbitrary: anyJson },
)
const values = fc.dictionary(fc.constantFrom(...keys, 'a_ref', 'a_refs'), value, { maxKeys: 2 })
const type = fc.constantFrom('things', 'things', 'things', 'others', 'none', '__proto__')
/** Values that a later operation of a batch can often store. */
const likely = fc.record(
  {
    a_ref: fc.record({ $of: fc.constantFrom(0, 0, 0, 1) }),
    a_refs: fc.array(fc.record({ $of: fc.constantFrom(0, 0, 0, 1) }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const sentValues = fc.oneof({ weight: 8, arbitrary: likely }, { weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: values })
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type, op: fc.constant('create'), values: sentValues }) },
  { weight: 1, arbitrary: fc.record({ type, op: fc.constant('upsert'), by: fc.constantFrom('a_string', 'a_ref'), values }) },
  { weight: 1, arbitrary: fc.record({ type, op: fc.constant('update'), id: fc.oneof(fc.uuid(), fc.string()), values }) },
  { weight: 1, arbitrary: fc.record({ type, op: fc.constant('delete'), id: fc.uuid() }) },
)

interface Operation {
  readonly type: string
  readonly op: string
  readonly values?: Readonly<Record<string, unknown>>
}

/** The indexes that a well-formed reference among these values names; undefined where one is malformed. */
function namedIn({ values = {} }: Operation): readonly number[] | undefined {
  const found = Object.values(values).flatMap((one) => (Array.isArray(one) ? one : [one]))
  const references = found.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one) && Object.hasOwn(one, '$of'))
  const wellFormed = references.every((one) => Object.keys(one).length === 1 && Number.isInteger(one.$of) && one.$of >= 0)
  return wellFormed ? references.map(({ $of }) => $of) : undefined
}

test('wild changes: each batch is refused as a whole exactly where a reference is malformed, and no record names one that failed', async (t) => {
  const w = await shared()
  await makeTypes(w)
  const { owner, path } = w.org
  let done = 0
  const property = fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 5 }), fc.boolean(), async (operations, atomic) => {
    const sent = [{ type: 'things', op: 'create' }, ...operations] as readonly Operation[]
    const answer = await owner.post(`${path}/batch`, { operations: sent, atomic })
    t.true(answer.status < 500, answer.text)
    const isMalformed = sent.some((one, at) => {
      const named = namedIn(one)
      return !named || named.some((target) => target >= at || !['create', 'upsert'].includes(sent[target]?.op ?? ''))
    })
    if (isMalformed) t.regex(answer.body.error?.message ?? '', /^operations\[\d\]\.values\./, answer.text)
    if (answer.status !== 200) return
    t.false(isMalformed, answer.text)
    const { results } = answer.data
    for (const [at, result] of results.entries()) {
      t.true(result.status < 500, answer.text)
      const named = namedIn(sent[at] as Operation) ?? []
      if (result.error !== null) continue
      done += named.length
      for (const target of named) {
        t.is(results[target].error, null, answer.text)
        t.is(sent[target]?.type, 'things', answer.text)
        t.true(JSON.stringify(result.record.values).includes(results[target].record.id), answer.text)
      }
    }
  })
  await fc.assert(property, { numRuns: runs, seed: seedOf(t), includeErrorInReport: true })
  t.log(`${done} references were stored`)
  t.true(done > 0)
})

const condition = fc.record(
  {
    field: fc.constantFrom(...keys, 'id', 'created_at', 'a_ref.a_string', 'a_ref.a_ref.id'),
    op: fc.constantFrom('eq', 'ne', 'in', 'has', 'not_empty', 'contains'),
    value: fc.oneof(fc.string(), fc.constantFrom('1', 'a'), anyJson),
  },
  { requiredKeys: ['field'] },
)
const { filter } = fc.letrec((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    condition,
    anyJson,
    fc.array(tie('filter'), { maxLength: 3 }),
    fc.record({ not: tie('filter') }),
    fc.record({ any: fc.array(tie('filter'), { maxLength: 3 }) }),
  ),
}))

test('wild changes: changes by wild filters and values are done or refused, and count what a search finds', async (t) => {
  const w = await shared()
  await makeTypes(w)
  const { owner, path } = w.org
  const records = `${path}/records/things`
  await owner.post(`${records}/batch`, { operations: Array.from({ length: 5 }, (_, at) => ({ op: 'create', values: { a_number: at } })) })
  let done = 0
  const property = fc.asyncProperty(filter, values, fc.boolean(), async (filter, values, isDeletion) => {
    const found = await owner.post(`${records}/query`, { filter, offset: 0, limit: 1 })
    const answer = await owner.post(
      `${records}/${isDeletion ? 'delete-where' : 'update-where'}`,
      isDeletion ? { filter } : { filter, values },
    )
    t.true([200, 400].includes(answer.status), answer.text)
    if (answer.status === 400) return
    t.is(found.status, 200, found.text)
    const { matched, changed, skipped } = answer.data
    t.is(matched, found.data.total)
    t.true(changed + skipped.length <= matched)
    done += 1
    if (isDeletion && changed > 0) {
      const operations = Array.from({ length: changed }, () => ({ op: 'create', values: { a_number: changed } }))
      await owner.post(`${records}/batch`, { operations })
    }
  })
  await fc.assert(property, { numRuns: runs, seed: seedOf(t), includeErrorInReport: true })
  t.true(done > 0)
})
