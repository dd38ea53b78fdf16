import test from 'ava'
import { permissions } from '#shared/core/policy/permissions.ts'
import { ids } from '#test/core/policy/random.ts'
import { allow, deny, invoice, invoiceFields, me, policyOf } from '#test/core/policy/rules.ts'

test('evaluate: a matching deny rule refuses in any order of the rules', (t) => {
  const rules = [allow('records:*'), deny('records:delete', { resources: ['invoices'] })]
  for (const policy of [policyOf(rules), policyOf(rules.toReversed())]) {
    t.is(policy.permits('records:delete', 'invoices'), 'never')
    t.is(policy.permits('records:delete', 'accounts'), 'always')
    t.is(policy.permits('records:read', 'invoices'), 'always')
  }
})

test('evaluate: everything is refused without an allow rule', (t) => {
  for (const policy of [policyOf([]), policyOf([deny('*')]), policyOf([allow('types:read')])]) {
    for (const permission of permissions.filter((name) => name !== 'types:read')) t.is(policy.permits(permission, 'invoices'), 'never')
  }
})

test('evaluate: keys match exactly; absent, empty and * match every item', (t) => {
  const one = policyOf([allow('queues:read', { resources: ['packing'] })])
  t.deepEqual(
    ['packing', 'pack', 'Packing', 'packing ', '*', 'constructor'].map((key) => one.permits('queues:read', key)),
    ['always', ...Array(5).fill('never')],
  )
  for (const resources of [undefined, [], '*', ['*'], ['others', '*']]) {
    t.is(
      policyOf([allow('queues:read', resources === undefined ? {} : { resources: resources as string[] })]).permits(
        'queues:read',
        'packing',
      ),
      'always',
    )
  }
})

test('evaluate: the workspace itself needs a rule on every item, and a list any rule', (t) => {
  const policy = policyOf([allow('*', { resources: ['packing'] })])
  t.is(policy.permits('org:update'), 'never')
  t.is(policyOf([allow('*', { resources: ['x'] }), deny('*', { resources: ['y'] })]).permits('org:update'), 'never')
  t.is(policyOf([allow('*'), deny('*', { resources: ['x'] })]).permits('org:update'), 'always')
  t.is(policy.permits('queues:read'), 'never')
  t.true(policy.permitsSomewhere('queues:read'))
  t.false(policyOf([allow('queues:read', { resources: ['packing'] }), deny('queues:read')]).permitsSomewhere('queues:read'))
  t.false(policyOf([]).permitsSomewhere('queues:read'))
})

test('evaluate: conditions on records stay open until there is a record; elsewhere they are tested at once', (t) => {
  const own = { condition: { 'resource.owner': { eq: 'principal.id' } } }
  t.is(policyOf([allow('*', own)]).permits('records:read', 'invoices'), 'sometimes')
  t.is(policyOf([allow('*'), deny('*', own)]).permits('records:read', 'invoices'), 'sometimes')
  const policy = policyOf([allow('queues:update', own)])
  t.is(policy.permits('queues:update', 'packing'), 'never')
  t.is(policy.permits('queues:update', 'packing', { owner: me.id }), 'always')
  t.is(policy.permits('queues:update', 'packing', { owner: ids[1] }), 'never')
})

test('evaluate: conditions on the caller are decided without a record', (t) => {
  const people = { condition: { 'principal.type': { eq: 'user' } } }
  const keys = { condition: { 'principal.type': { ne: 'user' } } }
  t.is(policyOf([allow('types:read', people)]).permits('types:read', 'invoices'), 'always')
  t.is(policyOf([allow('types:read', keys)]).permits('types:read', 'invoices'), 'never')
  t.is(policyOf([allow('*', people)]).permits('records:read', 'invoices'), 'always')
  t.is(policyOf([allow('*'), deny('*', people)]).permits('records:read', 'invoices'), 'never')
  t.is(policyOf([allow('*'), deny('*', keys)]).permits('records:read', 'invoices'), 'always')
})

test('evaluate: the owner may do everything, and no rule applies to it', (t) => {
  const policy = policyOf([deny('*')], { ...me, owner: true })
  for (const permission of permissions) t.is(policy.permits(permission, 'invoices'), 'always')
  t.deepEqual(policy.decide('records:read', '*', {}), { allowed: true, effect: 'allow', matched: null })
  const access = policy.recordAccess('records:read', 'invoices', invoiceFields)
  t.deepEqual([access.verdict, access.where(), access.alwaysVisible, access.test(invoice())], ['all', undefined, true, true])
})

test('evaluate: simulate names the deciding rule with its role and its place', (t) => {
  const open = { condition: { 'resource.status': { eq: 'open' } } }
  const policy = policyOf([allow('records:read', open), deny('records:read', { condition: { 'resource.total': { gt: 100 } } })])
  const decide = (resource: string, attributes: Record<string, unknown>) => policy.decide('records:read', resource, attributes)
  t.deepEqual(decide('*', { status: 'open', total: 5 }), {
    allowed: true,
    effect: 'allow',
    matched: { ...allow('records:read', open), role_id: 'role', index: 0 },
  })
  t.is(decide('invoices', { status: 'open', total: { amount: '101', code: 'EUR' } }).matched?.index, 1)
  t.is(decide('invoices', { status: 'open', total: 'much' }).matched?.index, 1, 'values that cannot be compared: the deny rule applies')
  t.deepEqual(decide('invoices', { status: 'paid' }), { allowed: false, effect: 'deny', matched: null })
  t.deepEqual(decide('*', {}), { allowed: false, effect: 'deny', matched: null })
})

test('evaluate: simulate on * is decided by the rules on every item', (t) => {
  const policy = policyOf([allow('records:read', { resources: ['invoices'] }), deny('records:read', { resources: ['accounts'] })])
  t.deepEqual(policy.decide('records:read', '*', {}), { allowed: false, effect: 'deny', matched: null })
  t.is(policy.decide('records:read', 'invoices', {}).effect, 'allow')
  t.is(policyOf([allow('*'), deny('*', { resources: ['accounts'] })]).decide('records:read', '*', {}).allowed, true)
})

test('evaluate: attributes reach no prototype, and the type of a record is its resource', (t) => {
  const named = policyOf([allow('*', { condition: { 'resource.constructor': { ne: 'x' } } })])
  t.true(named.decide('records:read', 'invoices', {}).allowed)
  const denied = policyOf([allow('*'), deny('*', { condition: { 'resource.constructor': { gt: 1 } } })])
  t.true(denied.decide('records:read', 'invoices', {}).allowed, 'a missing value fails, and no member is inherited')
  const invoices = policyOf([allow('*', { condition: { 'resource.object_type': { eq: 'invoices' } } })])
  t.true(invoices.decide('records:read', 'invoices', {}).allowed)
  t.false(invoices.decide('records:read', 'accounts', {}).allowed)
  t.true(invoices.decide('records:read', '*', { object_type: 'invoices' }).allowed)
  t.false(policyOf([allow('*', { condition: { 'resource.object_type': { contains: '' } } })]).decide('records:read', '*', {}).allowed)
})

test('evaluate: attributes have the names of fields or of conditions', (t) => {
  const policy = policyOf([allow('*', { condition: { 'resource.status': { eq: 'open' }, 'resource.owner': { eq: 'principal.id' } } })])
  t.true(policy.decide('records:read', 'invoices', { status: 'open', owner: me.id }).allowed)
  t.true(policy.decide('records:read', 'invoices', { 'resource.status': 'open', 'resource.owner': me.id }).allowed)
})

test('evaluate: times among attributes are compared as times, also without a type', (t) => {
  const policy = policyOf([allow('*', { condition: { 'resource.due': { lt: '2026-02-01T00:00:00+01:00' } } })])
  t.true(policy.decide('records:read', '*', { due: '2026-01-31T22:59:59Z' }).allowed)
  t.false(policy.decide('records:read', '*', { due: '2026-01-31T23:00:00Z' }).allowed)
  t.true(policy.decide('records:read', 'invoices', { due: '2026-01-30' }, invoiceFields).allowed)
})
