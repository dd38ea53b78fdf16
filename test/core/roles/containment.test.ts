import test from 'ava'
import { waysToGive } from '#test/core/roles/ways-to-give.ts'
import { type Caller, createMember, createRole, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

const allow = (...actions: string[]) => ({ effect: 'allow', actions })
const deny = (...actions: string[]) => ({ effect: 'deny', actions })
const manage = allow('iam:manage_groups', 'iam:manage_members')

for (const [name, give] of Object.entries(waysToGive)) {
  test(`roles containment: ${name} grants no more than the giver holds`, async (t) => {
    const w = await fresh()
    const onInvoices = { ...allow('records:read', 'records:update'), resources: ['invoices'] }
    const masked = { ...allow('records:read'), resources: ['accounts'], fields: { deny: ['description'] } }
    const giver = await createMember(w, w.org, [manage, onInvoices, masked, deny('records:update')])
    const robot = await createService(w, w.org, [manage, onInvoices, masked, deny('records:update')])
    const owner: Caller = { id: w.org.ownerId, client: w.org.owner }
    const more = [
      [allow('*')],
      [allow('audit:read')],
      [allow('records:read')],
      [{ ...allow('records:read'), resources: ['accounts'] }],
      [{ ...allow('records:read'), resources: ['invoices', 'payments'] }],
      [{ ...allow('records:update'), resources: ['invoices'] }],
    ]
    const within = [
      [],
      [{ ...allow('records:read'), resources: ['invoices'] }],
      [{ ...allow('records:read'), resources: ['invoices'], condition: { 'resource.status': { eq: 'paid' } } }],
      [masked],
      [{ ...allow('records:update'), resources: ['invoices'] }, deny('records:update')],
      [deny('*')],
    ]
    for (const caller of [giver, robot]) {
      for (const policy of more) t.is(await give(w, caller, policy), 403, JSON.stringify(policy))
      for (const policy of within) t.true((await give(w, caller, policy)) < 300, JSON.stringify(policy))
    }
    for (const policy of more) t.true((await give(w, owner, policy)) < 300, JSON.stringify(policy))
  })
}

test('roles containment: a caller cannot remove a deny rule on permissions that it does not hold', async (t) => {
  const w = await fresh()
  const { path, owner } = w.org
  const limited = await createMember(w, w.org, [allow('*')])
  const limit = await createRole(w, w.org, [deny('records:delete'), allow('audit:read')])
  const one = `${path}/iam/groups/${limit}`
  await owner.post(`${one}/members`, { user_id: limited.id })
  const escapes = [
    limited.client.delete(one),
    limited.client.delete(`${one}/members/${limited.id}`),
    limited.client.put(one, { name: 'Nothing', policy: [] }),
    limited.client.put(one, { name: 'Less', policy: [{ ...deny('records:delete'), resources: ['accounts'] }] }),
    limited.client.put(one, { name: 'Less', policy: [{ ...deny('records:delete'), condition: { 'principal.type': { eq: 'service' } } }] }),
  ]
  for (const { status, body } of await Promise.all(escapes)) {
    t.is(status, 403)
    t.regex(body.error.message, /^The role refuses or hides what you do not hold yourself/)
  }
  t.deepEqual((await owner.get(`${one}/members`)).data.length, 1)
  const stricter = { name: 'More', policy: [deny('records:delete', 'records:update')] }
  t.is((await limited.client.put(one, stricter)).status, 200, 'a limit may be extended')
  const whole = await createMember(w, w.org, [allow('*')])
  t.is((await whole.client.put(one, { name: 'Nothing', policy: [] })).status, 200, 'a holder of the permission may remove the limit')
})

test('roles containment: a caller cannot show fields that it does not see', async (t) => {
  const w = await fresh()
  const { path, owner } = w.org
  const hiding = [{ ...allow('records:read'), fields: { deny: ['notes'] } }]
  const limited = await createMember(w, w.org, [allow('*')])
  const role = await createRole(w, w.org, hiding)
  const one = `${path}/iam/groups/${role}`
  await owner.post(`${one}/members`, { user_id: limited.id })
  t.is((await limited.client.put(one, { name: 'Open', policy: [] })).status, 403)
  t.is((await limited.client.delete(one)).status, 403)
  t.is((await limited.client.put(one, { name: 'Same', policy: hiding })).status, 200)
  t.is((await owner.put(one, { name: 'Open', policy: [] })).status, 200)
})

test('roles containment: a role without holders is changed and deleted by its creator', async (t) => {
  const w = await fresh()
  const { client } = await createMember(w, w.org, [manage, allow('types:read')])
  const { data } = await client.post(`${w.org.path}/iam/groups`, { name: 'R', policy: [allow('types:read'), deny('audit:read')] })
  const one = `${w.org.path}/iam/groups/${data.id}`
  t.is((await client.put(one, { name: 'R', policy: [allow('types:read')] })).status, 200)
  t.is((await client.delete(one)).status, 204)
})

test('roles containment: a condition on the caller neither covers a grant nor replaces a limit', async (t) => {
  const w = await fresh()
  const { path, owner } = w.org
  const ofPeople = { condition: { 'principal.type': { eq: 'user' } } }
  const ofKeys = { condition: { 'principal.type': { eq: 'service' } } }
  const manager = await createMember(w, w.org, [
    allow('iam:manage_groups', 'iam:manage_members', 'service_accounts:manage', 'types:read', 'records:read'),
    { ...allow('records:delete', 'records:update'), ...ofPeople },
    { ...allow('records:create'), ...ofKeys },
    { ...deny('records:update'), ...ofPeople },
    deny('records:read'),
  ])
  const given = [
    [{ ...allow('records:create'), ...ofKeys }],
    [{ ...allow('records:delete'), ...ofPeople }],
    [allow('records:update'), { ...deny('records:update'), ...ofPeople }],
    [allow('records:read'), { ...deny('records:read'), ...ofPeople }],
  ]
  for (const policy of given) {
    const made = await manager.client.post(`${path}/iam/groups`, { name: 'Given', policy })
    t.is(made.status, 403, JSON.stringify(policy))
    const role = await createRole(w, w.org, policy)
    const account = await manager.client.post(`${path}/service-accounts`, { name: 'Robot', role_ids: [role] })
    t.is(account.status, 403)
    const member = await createMember(w, w.org, [])
    t.is((await manager.client.post(`${path}/iam/groups/${role}/members`, { user_id: member.id })).status, 403)
    t.is((await manager.client.post(`${path}/members`, { email: 'x@example.com', role_ids: [role] })).status, 403)
    const robot = (await owner.post(`${path}/service-accounts`, { name: 'Robot', role_ids: [role] })).data
    t.is((await manager.client.post(`${path}/service-accounts/${robot.id}/keys`, { name: 'k' })).status, 403)
  }
  // The same holder before and after a change: kept rights are no gain.
  const kept = { ...deny('records:export'), ...ofKeys }
  const role = await createRole(w, w.org, [kept])
  await owner.post(`${path}/iam/groups/${role}/members`, { user_id: (await createMember(w, w.org, [])).id })
  t.is((await manager.client.put(`${path}/iam/groups/${role}`, { name: 'Same', policy: [kept, allow('types:read')] })).status, 200)
})
