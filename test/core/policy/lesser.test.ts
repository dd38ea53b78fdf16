import test from 'ava'
import { findExcessGrant } from '#shared/core/policy/grants/excess-grants.ts'
import { intersectPolicies } from '#shared/core/policy/grants/intersect-policies.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import { ids } from '#test/core/policy/random.ts'
import { allow, deny, invoice, invoiceFields, me, policyOf } from '#test/core/policy/rules.ts'

const other = { id: ids[1] ?? null, type: 'user', owner: false } as const
const owner = policyOf([], { ...me, owner: true })

test('lesser: the lesser of two callers may do what both may do', (t) => {
  const policy = intersectPolicies(
    policyOf([allow('*', { fields: { deny: ['due'] } })]),
    policyOf([allow('records:read', { condition: { 'resource.status': { eq: 'open' } }, fields: { allow: ['due', 'status'] } })], other),
  )
  t.deepEqual([policy.permits('records:read', 'invoices'), policy.permits('records:delete', 'invoices')], ['sometimes', 'never'])
  const access = policy.recordAccess('records:read', 'invoices', invoiceFields)
  t.deepEqual([access.verdict, access.test(invoice({ status: 'open' })), access.test(invoice({ status: 'paid' }))], ['some', true, false])
  t.deepEqual([...access.visibleFields(invoice({ status: 'open' }))], ['status'])
  t.false(access.alwaysVisible)
  const half = intersectPolicies(policyOf([allow('*')]), policyOf([allow('*', { fields: { deny: ['due'] } })], other))
  t.false(half.recordAccess('records:read', 'invoices', invoiceFields).alwaysVisible)
  t.deepEqual([...access.hideable].sort(), ['constructor', 'due', 'label', 'tax', 'total'])
  t.is(access.where('row')?.toString(), `("row"."status" is not null and "row"."status" = 'open'::text)`)
  t.is(access.fieldWhere('due')?.toString(), 'false')
  t.false(policy.decide('records:read', 'invoices', { status: 'paid' }).allowed)
  t.true(policy.decide('records:read', 'invoices', { status: 'open' }).allowed)
})

test('lesser: each of the two has its own principal.id', (t) => {
  const own = [allow('*', { condition: { 'resource.owner': { eq: 'principal.id' } } })]
  const access = intersectPolicies(policyOf(own), policyOf(own, other)).recordAccess('records:read', 'invoices', invoiceFields)
  t.false(access.test(invoice()))
})

test('lesser: beside the owner the lesser is the other caller', (t) => {
  const limited = policyOf([allow('types:read')])
  t.is(intersectPolicies(owner, limited), limited)
  t.is(intersectPolicies(limited, owner), limited)
  t.is(intersectPolicies(owner, owner), owner)
})

test('lesser: the lesser of two grants only what both hold', (t) => {
  const policy = intersectPolicies(policyOf([allow('*')]), policyOf([allow('*'), deny('flows:run')], other))
  t.is(findExcessGrant(policy, parsePolicy([allow('flows:read')])), undefined)
  t.is(findExcessGrant(policy, parsePolicy([allow('flows:run')]))?.code, 'FORBIDDEN')
})

test('lesser: a deny rule of either denies, and a missing allow rule does not', (t) => {
  const manager = policyOf([allow('calendar:manage')])
  const denied = policyOf([allow('calendar:manage'), deny('calendar:write', { resources: ['rooms'] })], other)
  for (const policy of [intersectPolicies(manager, denied), intersectPolicies(denied, manager)]) {
    t.true(policy.denies('calendar:write', 'rooms'))
    t.false(policy.denies('calendar:write', 'halls'))
    t.false(policy.denies('calendar:read', 'rooms'))
  }
})
