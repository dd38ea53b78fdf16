import test from 'ava'
import { findExcessGrant } from '#shared/core/policy/grants/excess-grants.ts'
import { permissions } from '#shared/core/policy/permissions.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import { allow, deny, me, policyOf } from '#test/core/policy/rules.ts'

const own = { condition: { 'resource.owner': { eq: 'principal.id' } } }
const open = { condition: { 'resource.status': { in: ['open', 'late'] } } }
const invoices = { resources: ['invoices'] }
const noTotal = { fields: { deny: ['total'] } }

type Rules = readonly unknown[]
const passing: Readonly<Record<string, [held: Rules, role: Rules]>> = {
  'an empty role': [[], []],
  'a role that only denies': [[], [deny('*')]],
  'the same rule': [
    [allow('records:read', { ...invoices, ...own, ...noTotal })],
    [allow('records:read', { ...invoices, ...own, ...noTotal })],
  ],
  'a permission of records:*': [[allow('records:*')], [allow(['records:read', 'records:import'])]],
  'records:* of its permissions one by one': [[allow(permissions.filter((name) => name.startsWith('records:')))], [allow('records:*')]],
  '* of all permissions one by one': [[allow([...permissions])], [allow('*')]],
  'a permission that another rule holds': [[allow('flows:read'), allow('flows:run')], [allow(['flows:read', 'flows:run'])]],
  'a key of every item': [[allow('records:read')], [allow('records:read', invoices)]],
  'keys that different rules hold': [
    [allow('records:read', invoices), allow('records:read', { resources: ['accounts'] })],
    [allow('records:read', { resources: ['accounts', 'invoices'] })],
  ],
  'with a condition what is held without one': [[allow('records:read')], [allow('records:read', own)]],
  'the same condition in another order': [
    [allow('records:read', { condition: { ...own.condition, ...open.condition } })],
    [allow('records:read', { condition: { 'resource.status': { in: ['late', 'open'] }, ...own.condition } })],
  ],
  'hiding more fields': [[allow('records:read', noTotal)], [allow('records:read', { fields: { deny: ['due', 'total'] } })]],
  'a whitelist without what is hidden': [[allow('records:read', noTotal)], [allow('records:read', { fields: { allow: ['due'] } })]],
  'less of a whitelist': [
    [allow('records:read', { fields: { allow: ['due', 'total'] } })],
    [allow('records:read', { fields: { allow: ['due'] } })],
  ],
  'a permission that shows no fields, without the mask': [[allow('*', noTotal)], [allow(['flows:read', 'records:delete'])]],
  'with the deny rule standing in it': [
    [allow('*'), deny('flows:run')],
    [allow('flows:run'), deny('flows:run')],
  ],
  'with the deny rule for more than it was': [
    [allow('*'), deny('records:read', own)],
    [allow('records:read'), deny('*')],
  ],
  'a deny rule that does not touch it': [
    [allow('*'), deny('records:read', invoices), deny('flows:run')],
    [allow('records:read', { resources: ['accounts'] })],
  ],
  'with the rule that hides fields standing in it': [
    [allow('records:read'), allow('records:read', { ...open, ...noTotal })],
    [allow('records:read', own), allow('records:read', { ...open, ...noTotal })],
  ],
}
for (const [name, [held, role]] of Object.entries(passing)) {
  test(`policy containment: may grant: ${name}`, (t) => t.is(findExcessGrant(policyOf(held), parsePolicy(role))?.message, undefined))
}

const refused: Readonly<Record<string, [held: Rules, role: Rules, message: RegExp]>> = {
  'anything, holding nothing': [[], [allow('flows:read')], /^policy\[0\] grants more than you hold: flows:read on \*/],
  'what is only denied': [[deny('flows:read')], [allow('flows:read'), deny('flows:read')], /flows:read on \*/],
  'a permission that is not held': [
    [allow('records:read')],
    [allow('records:read'), allow('records:*')],
    /^policy\[1\] .* records:create on \*/,
  ],
  '* holding all permissions but one': [
    [allow(permissions.filter((name) => name !== 'messages:manage'))],
    [allow('*')],
    /messages:manage on \*/,
  ],
  'every item, holding a key': [[allow('records:read', invoices)], [allow('records:read')], /records:read on \*/],
  'another key': [
    [allow('records:read', invoices)],
    [allow('records:read', { resources: ['invoices', 'accounts'] })],
    /records:read on accounts/,
  ],
  'without the condition': [[allow('records:read', own)], [allow('records:read')], /records:read on \*/],
  'another condition': [[allow('records:read', own)], [allow('records:read', open)], /records:read on \*/],
  'another value in the condition': [
    [allow('records:read', { condition: { 'resource.total': { lt: 5 } } })],
    [allow('records:read', { condition: { 'resource.total': { lt: 50 } } })],
    /records:read on \*/,
  ],
  'a hidden field': [[allow('records:read', noTotal)], [allow('records:read')], /records:read on \*/],
  'what the covering rule hides, hidden by another rule of the role': [
    [allow('records:read', noTotal)],
    [allow('records:read'), allow('records:read', noTotal)],
    /records:read on \*/,
  ],
  'a hidden field of exports': [[allow('records:*', noTotal)], [allow('records:export')], /records:export on \*/],
  'more than the whitelist': [
    [allow('records:read', { fields: { allow: ['due'] } })],
    [allow('records:read', { fields: { allow: ['due', 'total'] } })],
    /records:read on \*/,
  ],
  'without the whitelist': [
    [allow('records:read', { fields: { allow: ['due'] } })],
    [allow('records:read', noTotal)],
    /records:read on \*/,
  ],
  'a field that another rule hides': [
    [allow('records:read'), allow('records:read', { ...own, ...noTotal })],
    [allow('records:read')],
    /without hiding the fields/,
  ],
  'with a deny rule that means another person for the holder': [
    [allow('*'), deny('records:read', own)],
    [allow('records:read'), deny('records:read', own)],
    /records:read on \*, which a rule denies you/,
  ],
  'with a rule that hides fields of own records': [
    [allow('records:read'), allow('records:read', { ...own, ...noTotal })],
    [allow('records:read'), allow('records:read', { ...own, ...noTotal })],
    /without hiding the fields/,
  ],
  "others' records, which the holder's are not": [
    [allow('records:read', { condition: { 'resource.owner': { ne: 'principal.id' } } })],
    [allow('records:read', { condition: { 'resource.owner': { ne: 'principal.id' } } })],
    /records:read on \*/,
  ],
  'without the deny rule': [[allow('*'), deny('flows:run')], [allow('flows:run')], /flows:run on \*, which a rule denies you/],
  'every item, without the deny rule on a key': [
    [allow('*'), deny('*', invoices)],
    [allow('records:read')],
    /records:read on invoices, which a rule denies you/,
  ],
  'with the deny rule on another condition': [
    [allow('*'), deny('*', own)],
    [allow('records:read'), deny('*', open)],
    /which a rule denies you/,
  ],
  'with the deny rule on fewer keys': [
    [allow('*'), deny('records:read')],
    [allow('records:read', { resources: ['invoices', 'accounts'] }), deny('records:read', invoices)],
    /records:read on accounts, which a rule denies you/,
  ],
}
for (const [name, [held, role, message]] of Object.entries(refused)) {
  test(`policy containment: may not grant: ${name}`, (t) => {
    const problem = findExcessGrant(policyOf(held), parsePolicy(role))
    t.is(problem?.code, 'FORBIDDEN')
    t.regex(problem?.message ?? '', message)
  })
}

test('policy containment: the owner may grant everything', (t) => {
  t.is(findExcessGrant(policyOf([deny('*')], { ...me, owner: true }), parsePolicy([allow('*')])), undefined)
})

test('policy containment: fifty rules of three hundred keys each can be granted beside deny rules on other keys', (t) => {
  const key = (rule: number, index: number) => `type_${rule}_${index}`
  const role = Array.from({ length: 50 }, (_, rule) =>
    allow('*', { resources: Array.from({ length: 300 }, (_item, index) => key(rule, index)) }),
  )
  const held = [
    allow('*'),
    ...Array.from({ length: 49 }, (_, rule) => deny('*', { resources: [key(rule, 400)], condition: { 'resource.total': { gt: rule } } })),
  ]
  t.is(findExcessGrant(policyOf(held), parsePolicy(role)), undefined)
})
