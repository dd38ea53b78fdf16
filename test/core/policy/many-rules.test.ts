import test from 'ava'
import { indexRules } from '#shared/core/policy/rules/rule-index.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { roleLimits } from '#shared/core/roles/limits.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { fieldsShown, mayDo } from '#test/core/policy/naive.ts'
import { allow, deny, invoice, invoiceFields, me, policyOf } from '#test/core/policy/rules.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const accessOf = (rules: readonly unknown[]) => policyOf(rules).recordAccess('records:read', 'invoices', invoiceFields)
const types = Object.fromEntries(invoiceFields.map(({ key, type }) => [key, type]))

test('many rules: rules that differ only in one field’s value become one condition of one parameter', (t) => {
  const status = (value: string, rest: object = {}) => ({ condition: { 'resource.status': { eq: value } }, ...rest })
  const rules = ['a', 'b', 'c', 'd'].map((value) => allow('records:read', status(value)))
  t.is(accessOf(rules).where()?.toSQL().bindings.filter(Array.isArray).length, 1)
  t.is(accessOf(rules).where()?.toSQL().sql, accessOf(rules.slice(2)).where()?.toSQL().sql)
  const unlike = [
    ...rules,
    allow('records:read', { condition: { 'resource.status': { in: ['e', 'f'] } }, fields: { deny: ['due'] } }),
    deny('*', status('b')),
  ]
  for (const value of ['a', 'b', 'c', 'e', 'f', 'g', null]) {
    const record = invoice({ status: value, due: '2026-01-01' })
    const naive = { ...record, id: record.id ?? '', created_at: '', values: { ...record.values } } as Parameters<typeof mayDo>[4]
    const caller = { id: me.id, type: me.type }
    t.is(accessOf(unlike).test(record), mayDo(unlike as never, 'records:read', caller, types, naive), `${value}`)
    const reads = Object.fromEntries(invoiceFields.map((field) => [field.key, field.reads ?? []]))
    t.deepEqual(
      [...accessOf(unlike).visibleFields(record)].sort(),
      fieldsShown(unlike as never, 'records:read', caller, types, naive, reads),
    )
  }
})

test('many rules: keys that the same rules name share one list', (t) => {
  const rules = [allow('queues:read', { resources: ['a', 'b'] }), allow('*'), allow('*', { resources: ['b'] })]
  const { matching, namedLists } = indexRules(rules as PolicyRule[])
  t.deepEqual(matching('queues:read', 'a'), rules.slice(0, 2))
  t.deepEqual(matching('queues:read', 'b'), rules)
  t.deepEqual(namedLists('queues:read'), [rules.slice(0, 1), [rules[0], rules[2]]])
  const alike = indexRules([allow('*', { resources: ['a', 'b'] }), ...rules.slice(1, 2)] as PolicyRule[])
  t.is(alike.matching('queues:read', 'a'), alike.matching('queues:read', 'b'))
})

test('many rules: a permission is held somewhere unless a rule on every item refuses it', (t) => {
  const never = { condition: { 'principal.type': { eq: 'service' } } }
  const named = allow('*', { resources: ['a', 'b'] })
  for (const permission of ['queues:read', 'records:read'] as const) {
    t.true(policyOf([named]).permitsSomewhere(permission))
    t.true(policyOf([named, deny('*', never)]).permitsSomewhere(permission))
    t.true(policyOf([named, deny('*', { resources: ['a'] })]).permitsSomewhere(permission))
    t.false(policyOf([named, deny('*', { resources: ['a', 'b'] })]).permitsSomewhere(permission))
    t.false(policyOf([named, deny('*')]).permitsSomewhere(permission))
    t.false(policyOf([deny('*', { resources: ['a'] })]).permitsSomewhere(permission))
  }
  t.true(policyOf([named, deny('*', { condition: { 'resource.status': { eq: 'x' } } })]).permitsSomewhere('records:read'))
})

/** A role of nearly 64 KB whose one rule has the shortest tests there are, on fields of its own. */
const denseRole = (role: number, more: object = {}) => {
  const tests = { gt: 1, gte: 1, lt: 9, lte: 9, ne: 5 }
  const condition = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`resource.f${role}${index + 10}`, tests]))
  return allow('records:read', { condition, ...more })
}

test('many rules: the conditions of a caller at its limits fit into a statement, or are refused', (t) => {
  const rules = Array.from({ length: 50 }, (_, role) => denseRole(role))
  const bytes = Buffer.byteLength(JSON.stringify(rules))
  t.true(bytes > 0.9 * roleLimits.principalBytes && bytes <= roleLimits.principalBytes, `${bytes} bytes`)
  const fields = rules.flatMap(({ condition }) =>
    Object.keys(condition ?? {}).map((tested) => ({ key: tested.slice(9), type: 'number' as const, column: tested.slice(9) })),
  )
  const where = policyOf(rules).recordAccess('records:read', 'dense', fields).where() as Knex.Raw
  const values = where.toSQL().toNative().bindings.length
  t.is(values, 50 * 90 * 5)
  // A search has the condition twice, for the page and for the total.
  t.notThrows(() => buildStatement(builder.raw('select ? or ?', [where, where])))
  const error = t.throws(() => buildStatement(builder.raw('select ? or ? or ? or ?', [where, where, where, where])))
  t.is((error as Problem).code, 'FORBIDDEN')
  t.is(
    error?.message,
    'The rules of your roles have more conditions than a statement can hold: 90000 values, and at most 65535 fit. ' +
      'Ask for fewer or shorter conditions',
  )
})

test('many rules: a caller whose rules no statement can hold gets 403 that says so', async (t) => {
  const w = await start()
  const { org } = w
  await org.owner.post(`${org.path}/types`, { key: 'dense', label: 'Dense' })
  const keys = ['one', 'two', 'three', 'four']
  for (const key of keys) await org.owner.post(`${org.path}/fields`, { entity_type: 'dense', key, label: key, type: 'number' })
  // More than the limits allow: the role is written past the API, as an earlier release did.
  const rules = Array.from({ length: 1_700 }, (_, shift) => {
    const tests = { gt: shift, gte: 1, lt: 9, lte: 9, ne: 5 }
    return allow('records:read', { condition: Object.fromEntries(keys.map((key) => [`resource.${key}`, tests])) })
  })
  const { client } = await createMember(w, org, rules)
  await org.owner.post(`${org.path}/fields`, { entity_type: 'dense', key: 'name', label: 'Name', type: 'string' })
  // A search has the 34,000 values twice, for the page and for the total.
  const { status, body, text } = await client.get(`${org.path}/records/dense?q=name&limit=1`)
  t.is(status, 403, text)
  t.regex(body.error.message, /^The rules of your roles have more conditions than a statement can hold: \d+ values/)
})
