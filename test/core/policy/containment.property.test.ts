import test from 'ava'
import fc from 'fast-check'
import { dependsOnHolder } from '#shared/core/policy/conditions/condition.ts'
import { compilePolicy } from '#shared/core/policy/evaluate.ts'
import { findExcessGrant } from '#shared/core/policy/grants/excess-grants.ts'
import { type Action, permissions } from '#shared/core/policy/permissions.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { fieldsShown, mayDo, type NaiveCaller, type NaiveRecord } from '#test/core/policy/naive.ts'
import { ids, record as randomRecord } from '#test/core/policy/random.ts'
import { seedOf } from '#test/core/policy/seed.ts'

const policies = 10_000

// A small world, so that rules overlap: three fields, two of them computed, four conditions, three keys.
const types = { a_bool: 'bool', a_select: 'select', a_number: 'number', twice: 'number', again: 'string' } as const
const reads = { twice: ['a_number'], again: ['twice', 'a_select'] }
const keys = ['things', 'others', 'more']
const me: NaiveCaller = { id: ids[0] ?? null, type: 'user' }

const actions: readonly (readonly Action[])[] = [
  ['*'],
  ['*'],
  ['records:*'],
  ['records:read'],
  ['records:read', 'records:export'],
  ['records:update', 'records:read'],
  ['types:read', 'records:read'],
  [...permissions],
]
const conditions: readonly NonNullable<PolicyRule['condition']>[] = [
  {},
  { 'resource.a_bool': { eq: true } },
  { 'resource.a_select': { in: ['a', 'b'] }, 'resource.a_bool': { ne: false } },
  { 'resource.owner': { eq: 'principal.id' } },
  { 'resource.a_number': { gt: 'no number' } },
]
const fieldKeys = fc.subarray(Object.keys(types), { maxLength: 3 })

const parts = {
  actions: fc.constantFrom(...actions),
  resources: fc.oneof(fc.constantFrom('*' as const, []), fc.subarray(keys, { minLength: 1 })),
  condition: fc.constantFrom(...conditions),
  fields: fc.record({ allow: fieldKeys, deny: fieldKeys }, { requiredKeys: [] }),
}
const rule: fc.Arbitrary<PolicyRule> = fc.record(
  { effect: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const), ...parts },
  { requiredKeys: ['effect', 'actions'] },
)

/** Variations of a rule that a person holds: the same, less, more, or without its limits. */
const madeOf = (held: PolicyRule): fc.Arbitrary<PolicyRule> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(held) },
    fc.record({ actions: parts.actions }).map((part) => ({ ...held, ...part })),
    fc.record({ resources: parts.resources }).map((part) => ({ ...held, ...part })),
    fc.record({ condition: parts.condition }).map((part) => ({ ...held, ...part })),
    fc.record({ fields: parts.fields }).map((part) => ({ ...held, ...part })),
  )

const heldAndRole = fc.array(rule, { minLength: 1, maxLength: 4 }).chain((held) =>
  fc.tuple(
    fc.constant(held),
    fc
      .tuple(
        fc.subarray(held.map(madeOf), { minLength: 1 }).chain((made) => fc.tuple(...made)),
        fc.array(rule, { maxLength: 1 }),
      )
      .map(([made, other]) => [...made, ...other]),
  ),
)

const policyOf = (rules: readonly PolicyRule[], owner = false) =>
  compilePolicy(
    rules.map((one, index) => ({ ...one, role_id: 'role', index })),
    { id: me.id, type: 'user', owner },
  )

test('containment property: a role that passes permits and shows nothing that its granter may not see or do', (t) => {
  const seed = seedOf(t)
  const records = fc
    .sample(randomRecord, { seed, numRuns: 12 })
    .map((one, index) => ({ ...one, object_type: keys[index % keys.length] ?? '' }))
  let [passed, granted] = [0, 0]
  fc.assert(
    fc.property(heldAndRole, ([held, role]) => {
      if (findExcessGrant(policyOf(held), parsePolicy(role))) return
      passed += 1
      for (const record of records) granted += Number(isWithin(role, held, record))
    }),
    { seed, numRuns: policies },
  )
  t.log(`${passed} of ${policies} roles passed; ${granted} of ${passed * records.length} records are open to them`)
  t.true(passed > policies / 20 && granted > passed)
})

/** Throws when the role allows or shows more of a record than the rules held; otherwise returns whether it allows anything. */
function isWithin(role: readonly PolicyRule[], held: readonly PolicyRule[], record: NaiveRecord, holder = me): boolean {
  const open = permissions.filter((permission) => mayDo(role, permission, holder, types, record))
  for (const permission of open) {
    if (!mayDo(held, permission, me, types, record)) throw new Error(`${permission} on ${JSON.stringify(record)}`)
  }
  for (const action of ['records:read', 'records:export']) {
    const own = fieldsShown(held, action, me, types, record, reads)
    const more = fieldsShown(role, action, holder, types, record, reads).filter((key) => !own.includes(key))
    if (more.length > 0) throw new Error(`${action} shows ${more} of ${JSON.stringify(record)}`)
  }
  return open.length > 0
}

const ofPrincipal: readonly NonNullable<PolicyRule['condition']>[] = [
  { 'principal.type': { eq: 'user' } },
  { 'principal.type': { ne: 'service' } },
  { 'principal.type': { in: ['user', 'service'] }, 'resource.a_bool': { eq: true } },
  { 'principal.id': { eq: 'principal.id' } },
  { 'principal.id': { eq: ids[0] ?? '' } },
  { 'principal.id': { ne: ids[0] ?? '' } },
]
// The own records of one caller are not those of another, so that condition is excluded.
const comparable = conditions.filter((condition) => !('resource.owner' in condition))
const principalRule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    effect: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const),
    ...parts,
    condition: fc.constantFrom(...comparable, ...ofPrincipal, ...ofPrincipal),
  },
  { requiredKeys: ['effect', 'actions'] },
)
const heldAndGiven = fc
  .array(principalRule, { minLength: 1, maxLength: 4 })
  .chain((held) =>
    fc.tuple(
      fc.constant(held),
      fc.subarray([...held, ...held.map(({ condition: _, ...rule }) => rule)], { minLength: 1 }),
      fc.array(principalRule, { maxLength: 1 }),
    ),
  )
const holders: readonly NaiveCaller[] = [
  me,
  { id: ids[1] ?? null, type: 'user' },
  { id: ids[2] ?? null, type: 'service' },
  { id: null, type: 'anonymous' },
]

test('containment property: a role that passes permits and shows no principal of any kind more than its granter', (t) => {
  const seed = seedOf(t)
  const records = fc
    .sample(randomRecord, { seed, numRuns: 6 })
    .map((one, index) => ({ ...one, object_type: keys[index % keys.length] ?? '' }))
  let [passed, granted] = [0, 0]
  fc.assert(
    fc.property(heldAndGiven, ([held, made, more]) => {
      const role = [...made, ...more]
      if (findExcessGrant(policyOf(held), parsePolicy(role))) return
      passed += 1
      for (const record of records) for (const holder of holders) granted += Number(isWithin(role, held, record, holder))
    }),
    { seed, numRuns: policies },
  )
  t.log(`${passed} of ${policies} roles passed; ${granted} times something is open to a holder`)
  t.true(passed > policies / 50 && granted > passed)
})

test('containment property: a holder of rules may create a role of the same rules, and the owner any role', (t) => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 6 }), fc.array(rule, { maxLength: 6 }), (held, others) => {
      // A limit that names the caller means another person for each holder.
      if (!held.some((one) => dependsOnHolder(one) && (one.effect === 'deny' || one.fields?.deny?.length)))
        t.is(findExcessGrant(policyOf(held), held), undefined)
      t.is(findExcessGrant(policyOf([], true), others), undefined)
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
})

test('containment property: a role that passes also passes with more deny rules', (t) => {
  fc.assert(
    fc.property(heldAndRole, rule, ([held, role], more) => {
      if (findExcessGrant(policyOf(held), role)) return
      t.is(findExcessGrant(policyOf(held), [...role, { ...more, effect: 'deny' }]), undefined)
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
})
