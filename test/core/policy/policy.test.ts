import test from 'ava'
import { permissions, permissionsOf } from '#shared/core/policy/permissions.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'

const rule = { effect: 'allow', actions: ['records:read'] }
const when = (condition: unknown) => [rule, { ...rule, condition }]

const refused: Readonly<Record<string, [value: unknown, message: RegExp]>> = {
  'no list': [{}, /^policy must be an array/],
  'no rule': [[null], /^policy\[0\] must be an object/],
  'no effect': [[{ actions: ['*'] }], /^policy\[0\]\.effect is required/],
  'another effect': [[rule, { ...rule, effect: 'permit' }], /^policy\[1\]\.effect must be one of allow, deny/],
  'no actions': [[{ effect: 'allow' }], /^policy\[0\]\.actions is required/],
  'empty actions': [[{ effect: 'allow', actions: [] }], /^policy\[0\]\.actions must have at least 1/],
  'actions that are no list': [[{ effect: 'allow', actions: 'records:read' }], /^policy\[0\]\.actions must be an array/],
  'an unknown permission': [
    [rule, { ...rule, actions: ['records:read', 'records:fly'] }],
    /^policy\[1\]\.actions: there is no permission "records:fly"/,
  ],
  'another wildcard': [[{ ...rule, actions: ['flows:*'] }], /there is no permission "flows:\*"/],
  'a permission named like a property of objects': [[{ ...rule, actions: ['constructor'] }], /there is no permission "constructor"/],
  'one resource as text': [[{ ...rule, resources: 'invoices' }], /^policy\[0\]\.resources must be `\*` or a list of keys/],
  'a resource that is no text': [[{ ...rule, resources: [1] }], /^policy\[0\]\.resources\[0\] must be a string/],
  'an unknown key': [[{ ...rule, conditions: {} }], /^policy\[0\]: there is no key "conditions"/],
  'a key named __proto__': [
    parseJson('[{"effect":"allow","actions":["*"],"__proto__":{"effect":"deny"}}]'),
    /^policy\[0\]: there is no key "__proto__"/,
  ],
  'an unknown key of fields': [[{ ...rule, fields: { hide: ['total'] } }], /^policy\[0\]\.fields: there is no key "hide"/],
  'fields that are no lists': [[{ ...rule, fields: { deny: 'total' } }], /^policy\[0\]\.fields\.deny must be an array/],
  'a condition that is no object': [when([]), /^policy\[1\]\.condition must be an object/],
  'a test that is no object': [when({ 'resource.status': 'open' }), /^policy\[1\]\.condition\.resource\.status must be an object/],
  'a test without an operator': [when({ 'resource.status': {} }), /^policy\[1\]\.condition: resource\.status needs at least one test/],
  'an unknown operator': [when({ 'resource.status': { like: 'a' } }), /^policy\[1\]\.condition: resource\.status has no test "like"/],
  'an operator named like a property of objects': [when({ 'resource.status': { constructor: 'a' } }), /has no test "constructor"/],
  'a value that cannot be tested': [when({ status: { eq: 'a' } }), /^policy\[1\]\.condition: "status" cannot be tested/],
  'a principal value that there is not': [when({ 'principal.name': { eq: 'a' } }), /"principal\.name" cannot be tested/],
  'a reserved key that is no field': [when({ 'resource.updated_at': { gt: '2026-01-01' } }), /"resource\.updated_at" cannot be tested/],
  'a tested __proto__': [
    parseJson('[{"effect":"allow","actions":["*"],"condition":{"__proto__":{"eq":1}}}]'),
    /"__proto__" cannot be tested/,
  ],
  'in without a list': [when({ 'resource.status': { in: 'open' } }), /^policy\[1\]\.condition: resource\.status in must be a list/],
  'nin with a list of lists': [when({ 'resource.status': { nin: [['open']] } }), /resource\.status nin must be a list/],
  'eq with a list': [when({ 'resource.status': { eq: ['open'] } }), /resource\.status eq must be text, a number, true or false/],
  'eq with null': [when({ 'resource.status': { eq: null } }), /resource\.status eq must be text, a number, true or false/],
  'gt with an object': [when({ 'resource.total': { gt: { amount: '1' } } }), /resource\.total gt must be text, a number, true or false/],
  'a number that nothing can be compared with': [
    when(parseJson('{"resource.total": {"gt": 1e131072}}')),
    /resource\.total gt must be text, a number, true or false; a number has at most/,
  ],
  'a number of 401 digits in a list': [when(parseJson(`{"resource.total": {"in": [${'9'.repeat(401)}]}}`)), /in must be a list of/],
  'contains with a number': [when({ 'resource.status': { contains: 1 } }), /resource\.status contains must be text/],
  'text that PostgreSQL cannot hold': [when({ 'resource.status': { in: ['a\0'] } }), /resource\.status in must be a list/],
  'a lone surrogate': [when({ 'resource.status': { eq: '\ud800' } }), /resource\.status eq must be text/],
  'more than 50 rules': [Array(51).fill(rule), /^policy must have at most 50 items/],
}

for (const [name, [value, message]] of Object.entries(refused)) {
  test(`policy: refused: ${name}`, (t) => {
    const error = t.throws(() => parsePolicy(value), { instanceOf: Problem, code: 'VALIDATION_ERROR' })
    t.regex(error?.message ?? '', message)
  })
}

const accepted: Readonly<Record<string, unknown>> = {
  'no rules': [],
  '50 rules': Array(50).fill(rule),
  'both wildcards': [{ effect: 'deny', actions: ['records:*', '*'], resources: '*' }],
  'empty resources, condition and fields': [{ ...rule, resources: [], condition: {}, fields: {} }],
  'every tested value and operator': when({
    'resource.constructor': {
      eq: 1,
      ne: 'a',
      gt: '2026-01-01',
      gte: 0.5,
      lt: true,
      lte: '10',
      in: [],
      nin: ['principal.id', 1, false],
      contains: '',
    },
    'resource.owner': { eq: 'principal.id' },
    'resource.created_at': { lt: '2026-01-01T00:00:00Z' },
    'resource.object_type': { eq: 'invoices' },
    'resource.id': { in: [] },
    'principal.id': { ne: 'principal.id' },
    'principal.type': { in: ['user', 'service'] },
  }),
  'a number that binary floats cannot hold': when(parseJson('{"resource.total": {"gt": 12345678901234.123456}}')),
  'numbers as long as they may be': when(parseJson(`{"resource.total": {"in": [1e999, 1e-999, ${'9'.repeat(400)}]}}`)),
}

for (const [name, value] of Object.entries(accepted)) {
  test(`policy: accepted and read back as sent: ${name}`, (t) => {
    t.is(JSON.stringify(parsePolicy(value)), JSON.stringify(value))
  })
}

test('policy: a key that is null counts as absent', (t) => {
  t.deepEqual(parsePolicy([{ ...rule, resources: null, condition: null, fields: null }]), parsePolicy([rule]))
})

test('policy: wildcards cover exactly what they say', (t) => {
  t.is(new Set<string>(permissions).size, permissions.length as number, 'each permission occurs once')
  t.deepEqual(permissionsOf('*'), permissions)
  t.deepEqual(
    permissionsOf('records:*'),
    permissions.filter((permission) => permission.startsWith('records:')),
  )
  t.deepEqual([permissionsOf('records:read'), permissionsOf('flows:*'), permissionsOf('toString')], [['records:read'], [], []])
})
