import test from 'ava'
import type { TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { allow, deny, invoice, invoiceFields, me, policyOf } from '#test/core/policy/rules.ts'

const accessOf = (rules: readonly unknown[], action: 'records:read' | 'records:create' | 'records:export' = 'records:read') =>
  policyOf(rules).recordAccess(action, 'invoices', invoiceFields)
const shown = (rules: readonly unknown[], record: TestedRecord = invoice()) => [...accessOf(rules).visibleFields(record)].sort()
const open = { 'resource.status': { eq: 'open' } }
const paid = { 'resource.status': { eq: 'paid' } }
const all = invoiceFields.map(({ key }) => key).sort()

test('record access: without an allow rule there is no access; rules whose conditions all fail give access to nothing', (t) => {
  t.is(accessOf([]).verdict, 'none')
  t.is(accessOf([allow('records:read', { resources: ['accounts'] })]).verdict, 'none')
  t.is(accessOf([allow('*'), deny('records:read')]).verdict, 'none')
  const failing = accessOf([allow('records:read', { condition: { 'principal.type': { eq: 'service' } } })])
  t.deepEqual([failing.verdict, failing.test(invoice()), failing.where()?.toString()], ['some', false, 'false'])
  t.deepEqual([accessOf([allow('*')]).verdict, accessOf([allow('*')]).where()], ['all', undefined])
})

test('record access: a missing value fails every test except ne and nin', (t) => {
  const passes = (test: Record<string, unknown>) => accessOf([allow('*', { condition: { 'resource.due': test } })]).test(invoice())
  for (const test of [{ eq: '' }, { gt: '' }, { gte: '' }, { lt: '~' }, { lte: '~' }, { in: [''] }, { contains: '' }]) t.false(passes(test))
  for (const test of [{ ne: '2026-01-01' }, { nin: [] }, { nin: ['2026-01-01'] }]) t.true(passes(test))
  const denied = accessOf([allow('*'), deny('*', { condition: { 'resource.due': { gt: '2020-01-01' } } })])
  t.true(denied.test(invoice()), 'a deny rule does not apply to a missing value')
})

test('record access: values that cannot be compared: an allow rule does not apply, a deny rule does, unless another of its tests fails', (t) => {
  const late = { 'resource.due': { gt: 'late' } }
  const due = invoice({ due: '2026-01-01', status: 'open' })
  t.false(accessOf([allow('*', { condition: late })]).test(due))
  t.false(accessOf([allow('*'), deny('*', { condition: late })]).test(due))
  t.false(accessOf([allow('*'), deny('*', { condition: { ...open, ...late } })]).test(due))
  t.true(accessOf([allow('*'), deny('*', { condition: { ...paid, ...late } })]).test(due))
  t.true(accessOf([allow('*'), deny('*', { condition: { ...late, ...paid } })]).test(due))
})

test('record access: a currency is compared exactly by its amount', (t) => {
  const passes = (total: string, test: Record<string, unknown>) =>
    accessOf([allow('*', { condition: { 'resource.total': test } })]).test(invoice({ total: { amount: total, code: 'EUR' } }))
  t.true(passes('12345678901234.123457', { gt: '12345678901234.123456' }))
  t.false(passes('12345678901234.123456', { gt: '12345678901234.123456' }))
  t.true(passes('1', { eq: '1.0', in: [1], lt: 2 }))
})

test('record access: principal.id is the caller’s id, also in a list, and missing for a visitor', (t) => {
  const byMe = { condition: { 'resource.owner': { eq: 'principal.id' } } }
  const notByMe = { condition: { 'resource.owner': { nin: ['principal.id'] } } }
  t.true(accessOf([allow('*', byMe)]).test(invoice()))
  t.false(accessOf([allow('*', notByMe)]).test(invoice()))
  t.false(accessOf([allow('*', byMe)]).test({ ...invoice(), created_by: null }))
  const visitor = policyOf([allow('*', byMe)], { id: null, type: 'anonymous', owner: false })
  t.false(visitor.recordAccess('records:read', 'invoices', invoiceFields).test({ ...invoice(), created_by: null }))
})

test('record access: values are a map or an object, and a field named constructor is a field', (t) => {
  const access = accessOf([allow('*', { condition: { 'resource.constructor': { eq: 'x' } } })])
  t.true(access.test(invoice({ constructor: 'x' } as unknown as TestedRecord['values'])))
  t.true(access.test(invoice(new Map([['constructor', 'x']]))))
  const missing = accessOf([allow('*'), deny('*', { condition: { 'resource.constructor': { gt: 'a' } } })])
  for (const values of [{}, Object.create(null), new Map()])
    t.true(missing.test(invoice(values)), 'a missing value fails, and no member is inherited')
})

test('record access: allow rules show fields together; a field that a deny rule denies is hidden', (t) => {
  const status = { fields: { allow: ['status'] } }
  t.deepEqual(shown([allow('*', status), allow('*', { fields: { allow: ['due'] } })]), ['due', 'status'])
  t.deepEqual(shown([allow('*', status), allow('*')]), all)
  t.deepEqual(
    shown([allow('*', { fields: { allow: [], deny: ['due'] } }), allow('*')]),
    all.filter((key) => key !== 'due'),
  )
  t.deepEqual(shown([allow('*', { fields: { allow: ['due', 'status'], deny: ['due'] } })]), ['status'])
  t.deepEqual(shown([allow('*'), allow('*', { condition: open, fields: { deny: ['due'] } })], invoice({ status: 'paid' })), all)
  t.deepEqual(shown([allow('*', { condition: open })], invoice({ status: 'paid' })), [])
})

test('record access: rules of other actions and resources hide nothing', (t) => {
  const masked = { fields: { deny: ['due'] } }
  t.deepEqual(shown([allow('*'), allow('records:update', masked), allow('*', { ...masked, resources: ['accounts'] })]), all)
  t.deepEqual([...accessOf([allow('*'), allow('records:export', masked)], 'records:export').hideable], ['due'])
})

test('record access: a computed field is hidden from a caller that may not read every field of its formula', (t) => {
  t.deepEqual(shown([allow('*', { fields: { deny: ['total'] } })]), ['constructor', 'due', 'status'])
  t.deepEqual([...accessOf([allow('*', { fields: { deny: ['total'] } })]).hideable].sort(), ['label', 'tax', 'total'])
  t.deepEqual(shown([allow('*', { fields: { allow: ['label', 'tax'] } })]), [])
})

test('record access: a field is hideable when some rule could hide it, whatever its condition', (t) => {
  const hideable = (...rules: unknown[]) => [...accessOf(rules).hideable].sort()
  const never = { 'principal.type': { eq: 'service' } }
  t.deepEqual(hideable(allow('*')), [])
  t.deepEqual(hideable(allow('*'), allow('*', { condition: open, fields: { deny: ['due'] } })), ['due'])
  t.deepEqual(hideable(allow('*'), allow('*', { condition: never, fields: { deny: ['due'] } })), ['due'])
  t.deepEqual(hideable(allow('*'), allow('*', { condition: open, fields: { allow: ['due'] } })), [], 'the first rule shows every field')
  t.deepEqual(hideable(allow('*', { condition: open }), allow('*', { condition: paid, fields: { allow: all.slice(1) } })), all.slice(0, 1))
  t.deepEqual(hideable(), all)
  t.deepEqual(hideable(allow('*'), deny('*')), all)
})

test('record access: conditions of the same form have the same signature and other parameters', (t) => {
  const shape = (status: string, key: string) =>
    accessOf([allow('*', { condition: { 'resource.status': { in: [status, 'x'] } }, fields: { deny: [key] } })])
  t.is(shape('open', 'due').signature, shape('paid', 'due').signature)
  t.not(shape('open', 'due').signature, shape('open', 'status').signature)
  t.not(shape('open', 'due').signature, shape('open', 'constructor').signature, 'each hides one field, and not the same one')
  t.is(shape('open', 'due').where('row')?.toSQL().sql, shape('paid', 'due').where('row')?.toSQL().sql)
})

test('record access: a type is compiled once for each version of its fields', (t) => {
  const policy = policyOf([allow('*')])
  t.is(policy.recordAccess('records:read', 'invoices', invoiceFields), policy.recordAccess('records:read', 'invoices', invoiceFields))
  t.not(policy.recordAccess('records:read', 'invoices', invoiceFields), policy.recordAccess('records:read', 'invoices', [...invoiceFields]))
})

test('record access: a record that is not stored has no id and no time', (t) => {
  const access = accessOf(
    [allow('records:create', { condition: { 'resource.id': { ne: me.id ?? '' }, 'resource.created_at': { ne: '2026-01-31' } } })],
    'records:create',
  )
  t.true(access.test({ ...invoice(), id: null, created_at: null }))
})
