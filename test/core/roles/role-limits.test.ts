import test from 'ava'
import { readPolicyBytes } from '#test/core/roles/rows.ts'
import { createMember, createOrg, createRole, createService, type Org } from '#test/support/factories.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { assignRole } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)
const fresh = async (): Promise<World> => {
  const w = await shared()
  return { ...w, org: await createOrg(w) }
}

/** A policy of exactly so many bytes as compact JSON. */
function policyOf(bytes: number): object[] {
  const policy = (filler: string) => [{ effect: 'allow', actions: ['types:read'], condition: { 'resource.id': { eq: filler } } }]
  return policy('x'.repeat(bytes - JSON.stringify(policy('')).length))
}
const kb = (count: number) => policyOf(count * 1_024)
const groups = (org: Org) => `${org.path}/iam/groups`
const makeRoles = (w: World, count: number, policy: object[] = []) =>
  Promise.all(Array.from({ length: count }, () => createRole(w, w.org, policy)))

test('role limits: a policy has at most 64 KB of compact JSON, when it is created and when it is changed', async (t) => {
  const { org } = await fresh()
  const most = await org.owner.post(groups(org), { name: 'Most', policy: policyOf(65_536) })
  t.is(most.status, 201, most.text.slice(0, 300))
  const refusal = 'policy must have at most 64 KB (65536 bytes of compact JSON), got 65537 bytes'
  for (const answer of [
    await org.owner.post(groups(org), { name: 'More', policy: policyOf(65_537) }),
    await org.owner.put(`${groups(org)}/${most.data.id}`, { name: 'More', policy: policyOf(65_537) }),
  ])
    t.deepEqual([answer.status, answer.body.error.message], [400, refusal])
})

test('role limits: the database counts the bytes of a policy as compact JSON', async (t) => {
  const w = await fresh()
  const policy = [
    {
      effect: 'deny',
      actions: ['records:read', '*'],
      resources: ['a b', 'c, d: e'],
      condition: { 'resource.a1': { eq: '" , : \\ " ü 😀' } },
    },
    {
      effect: 'allow',
      actions: ['types:read'],
      condition: { 'resource.b2': { in: [1, 2.5, -3, true, 'x\n\t'], ne: ' ' } },
      fields: { deny: [] },
    },
  ]
  const { data } = await w.org.owner.post(groups(w.org), { name: 'R', policy })
  t.is(await readPolicyBytes(w.db, data.id), Buffer.byteLength(JSON.stringify(policy)))
})

test('role limits: a member and a service account have at most 50 roles', async (t) => {
  const w = await fresh()
  const { org } = w
  const roles = await makeRoles(w, 51)
  const made = await org.owner.post(`${org.path}/service-accounts`, { name: 'Robot', role_ids: roles.slice(0, 50) })
  t.is(made.status, 201)
  const give = (role: string | undefined) => org.owner.post(`${groups(org)}/${role}/members`, { user_id: made.data.id })
  const { status, body } = await give(roles[50])
  t.deepEqual([status, body.error.message], [400, 'user_id: A member or account may have at most 50 roles, got 51'])
  t.true((await give(roles[0])).status < 300, 'a role that it holds')
})

test('role limits: the roles of one holder have at most 256 KB together, on every road', async (t) => {
  const w = await fresh()
  const { org } = w
  const roles = await makeRoles(w, 5, kb(60))
  const four = roles.slice(0, 4)
  const member = await createMember(w, org)
  const give = (role: string | undefined) => org.owner.post(`${groups(org)}/${role}/members`, { user_id: member.id })
  for (const role of four) t.true((await give(role)).status < 300)
  for (const answer of [
    await give(roles[4]),
    await org.owner.post(`${org.path}/service-accounts`, { name: 'Robot', role_ids: roles }),
    await org.owner.post(`${org.path}/members`, { email: `${org.id}@example.com`, role_ids: roles }),
  ]) {
    t.is(answer.status, 400)
    t.regex(
      answer.body.error.message,
      /^(user_id|role_ids): the policies of all roles of one holder may have at most 256 KB \(262144 bytes/,
    )
  }
  t.is((await org.owner.post(`${org.path}/service-accounts`, { name: 'Robot', role_ids: four })).status, 201)
})

test('role limits: a change of a role that takes holders over names their number, and changes nothing', async (t) => {
  const w = await fresh()
  const { org } = w
  const [small = '', ...others] = [await createRole(w, org, kb(1)), ...(await makeRoles(w, 4, kb(60)))]
  const change = (policy: object[]) => org.owner.put(`${groups(org)}/${small}`, { name: 'R', policy })
  for (let holder = 1; holder <= 2; holder++) {
    const { id } = await createMember(w, org)
    for (const role of [small, ...others]) await assignRole(w.db, org.id, role, id)
    const { status, body } = await change(kb(20))
    const who = holder === 1 ? '1 holder' : '2 holders'
    t.deepEqual(
      [status, body.error.message],
      [400, `policy takes ${who} of the role beyond 256 KB of policies together; shorten it or take roles from them`],
    )
  }
  t.deepEqual((await org.owner.get(`${groups(org)}/${small}`)).data.policy, kb(1))
  t.is((await change(kb(16))).status, 200)
})

test('role limits: an invitation whose roles have grown too large is refused when it is accepted', async (t) => {
  const w = await fresh()
  const { org } = w
  const roles = await makeRoles(w, 5, kb(50))
  const email = `${org.id}@example.com`
  t.is((await org.owner.post(`${org.path}/members`, { email, role_ids: roles })).status, 201)
  for (const role of roles) t.is((await org.owner.put(`${groups(org)}/${role}`, { name: 'R', policy: kb(60) })).status, 200)
  const answer = { token: await mailedToken(w, email), name: 'Ann', password: 'long enough' }
  const { status, body } = await w.visitor.post('/v1/auth/accept-invite', answer)
  t.is(status, 400)
  t.regex(body.error.message, /^token: the policies of all roles of one holder may have at most 256 KB/)
  t.is((await org.owner.put(`${groups(org)}/${roles[0]}`, { name: 'R', policy: [] })).status, 200)
  t.is((await w.visitor.post('/v1/auth/accept-invite', answer)).status, 200, 'the invitation is left')
})

test('role limits: what an earlier release let grow stays until it grows further', async (t) => {
  const w = await fresh()
  const { org } = w
  const large = await createRole(w, org, kb(300))
  const holder = await createService(w, org)
  await assignRole(w.db, org.id, large, holder.id)
  const change = async (policy: object[]) => (await org.owner.put(`${groups(org)}/${large}`, { name: 'Renamed', policy })).status
  t.is(await change(kb(300)), 200)
  t.is((await org.owner.post(`${groups(org)}/${large}/members`, { user_id: holder.id })).status < 300, true)
  t.is((await org.owner.post(`${org.path}/service-accounts/${holder.id}/keys`, {})).status, 201)
  t.is(await change(kb(299)), 400)
  const small = await createRole(w, org, kb(1))
  t.is((await org.owner.post(`${groups(org)}/${small}/members`, { user_id: holder.id })).status, 400)
  t.is((await org.owner.delete(`${groups(org)}/${large}/members/${holder.id}`)).status, 204)
  t.is((await org.owner.post(`${groups(org)}/${small}/members`, { user_id: holder.id })).status < 300, true)
})

test('role limits: visitors have at most 50 roles and 256 KB of policies', async (t) => {
  const w = await fresh()
  const { org } = w
  const create = (policy: object[]) => org.owner.post(groups(org), { name: 'V', policy, is_anonymous: true })
  await Promise.all(Array.from({ length: 49 }, () => createRole(w, org, [], true)))
  const last = await create([])
  t.is(last.status, 201)
  t.is((await create([])).body.error.message, 'is_anonymous: Visitors may have at most 50 roles, got 51')
  const plain = await createRole(w, org, [])
  t.is((await org.owner.put(`${groups(org)}/${plain}`, { name: 'V', policy: [], is_anonymous: true })).status, 400)
  const other = await fresh()
  for (let role = 0; role < 4; role++) await createRole(other, other.org, kb(60), true)
  t.is((await other.org.owner.post(groups(other.org), { name: 'V', policy: kb(20), is_anonymous: true })).status, 400)
  const small = await createRole(other, other.org, kb(1), true)
  t.is((await other.org.owner.put(`${groups(other.org)}/${small}`, { name: 'V', policy: kb(20), is_anonymous: true })).status, 400)
})
