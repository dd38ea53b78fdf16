import { randomUUID } from 'node:crypto'
import test from 'ava'
import { deleteMember, makeRoleAnonymous } from '#test/core/roles/rows.ts'
import { createMember, createOrg, createRole, createService } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { whileWaiting } from '#test/support/waiting.ts'

const fresh = shareWorld(test)

const allow = (...actions: string[]) => ({ effect: 'allow', actions })
const deny = (...actions: string[]) => ({ effect: 'deny', actions })
const manage = allow('iam:manage_groups', 'iam:manage_members')

test('roles: a role is created, read, replaced, listed and deleted', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const policy = [
    { effect: 'allow', actions: ['records:*'], resources: ['invoices'], condition: { 'resource.status': { ne: 'void' } } },
    { effect: 'deny', actions: ['records:delete'], resources: '*' },
    { effect: 'allow', actions: ['records:read'], fields: { deny: ['notes'] } },
  ]
  const made = await owner.post(`${path}/iam/groups`, { name: ' Clerk ', description: 'Writes invoices', policy })
  t.is(made.status, 201)
  t.like(made.data, { name: 'Clerk', description: 'Writes invoices', is_anonymous: false })
  t.deepEqual(made.data.policy, policy)
  const one = `${path}/iam/groups/${made.data.id}`
  t.deepEqual((await owner.get(one)).data, made.data)
  const later = await owner.post(`${path}/iam/groups`, { name: 'Later' })
  t.deepEqual((await owner.get(`${path}/iam/groups`)).data, [made.data, later.data])
  const replaced = await owner.put(one, { name: 'Reader', policy: [allow('records:read')] })
  t.is(replaced.status, 200)
  t.like(replaced.data, { id: made.data.id, name: 'Reader', description: '', created_at: made.data.created_at })
  t.true(replaced.data.updated_at > made.data.updated_at)
  t.deepEqual((await owner.put(one, replaced.data)).data.policy, replaced.data.policy, 'a role can be sent back as it was read')
  t.is((await owner.delete(one)).status, 204)
  for (const answer of [owner.get(one), owner.put(one, { name: 'X' }), owner.delete(one)]) t.is((await answer).status, 404)
})

test('roles: a change of a role applies to its holders on the next request in every process', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { client, id } = await createMember(w, w.org)
  const elsewhere = second.as(client.token)
  const status = async () => (await elsewhere.get(`${w.org.path}/types`)).status
  const { data: role } = await w.org.owner.post(`${w.org.path}/iam/groups`, { name: 'Reader', policy: [allow('types:read')] })
  const one = `${w.org.path}/iam/groups/${role.id}`
  t.is(await status(), 403)
  t.is((await w.org.owner.post(`${one}/members`, { user_id: id })).status, 204)
  t.is(await status(), 200)
  await w.org.owner.put(one, { name: 'Reader', policy: [allow('types:read'), deny('types:read')] })
  t.is(await status(), 403)
  await w.org.owner.put(one, { name: 'Reader', policy: [allow('types:read')] })
  t.is(await status(), 200)
  t.is((await w.org.owner.delete(`${one}/members/${id}`)).status, 204)
  t.is(await status(), 403)
  await w.org.owner.post(`${one}/members`, { user_id: id })
  t.is(await status(), 200)
  await w.org.owner.delete(one)
  t.is(await status(), 403)
})

test('roles: a wrong policy is refused with the rule and the problem', async (t) => {
  const w = await fresh()
  const refusal = async (policy: unknown) => (await w.org.owner.post(`${w.org.path}/iam/groups`, { name: 'R', policy })).body.error?.message
  t.regex(await refusal([allow('types:read'), allow('types:raed')]), /^policy\[1\].*"types:raed"/)
  t.regex(await refusal([allow('types:*')]), /^policy\[0\]/)
  t.regex(await refusal([{ actions: ['*'] }]), /^policy\[0\]\.effect is required/)
  t.regex(await refusal([{ effect: 'maybe', actions: ['*'] }]), /^policy\[0\]\.effect must be one of allow, deny/)
  t.regex(await refusal([allow()]), /^policy\[0\]\.actions must have at least 1 item/)
  t.regex(await refusal([{ ...allow('*'), condition: { 'resource.status': { like: 'x' } } }]), /^policy\[0\].*"like"/)
  t.regex(await refusal('*'), /^policy must be an array/)
  t.is(await refusal(Array(51).fill(allow('types:read'))), 'policy must have at most 50 items')
  t.is(await refusal(Array(50).fill(allow('types:read'))), undefined)
  t.is((await w.org.owner.post(`${w.org.path}/iam/groups`, { policy: [] })).body.error.message, 'name is required')
  t.is((await w.org.owner.post(`${w.org.path}/iam/groups`, { name: ' ' })).status, 400)
})

test('roles: only the owner creates a role for visitors, and it cannot be assigned', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const admin = await createMember(w, w.org, [allow('*')])
  const visitors = { name: 'Visitors', policy: [allow('forms:read')], is_anonymous: true }
  const refused = await admin.client.post(`${path}/iam/groups`, visitors)
  t.deepEqual([refused.status, refused.body.error.message], [403, 'Only the owner of the workspace may make a role for visitors'])
  const { data: role } = await owner.post(`${path}/iam/groups`, { ...visitors, is_anonymous: false })
  const one = `${path}/iam/groups/${role.id}`
  t.is((await owner.post(`${one}/members`, { user_id: admin.id })).status, 204)
  t.is((await admin.client.put(one, visitors)).status, 403)
  t.is((await owner.put(one, visitors)).data.is_anonymous, true)
  t.deepEqual((await owner.get(`${one}/members`)).data, [], 'its holders lose it')
  t.false((await admin.client.get(`${path}/iam/me`)).data.roles.some(({ id }: { id: string }) => id === role.id))
  const given = await owner.post(`${one}/members`, { user_id: admin.id })
  t.is(given.status, 400)
  t.regex(given.body.error.message, /names a role for visitors, which is given to nobody$/)
  t.is((await admin.client.put(one, { ...visitors, name: 'Guests' })).data.name, 'Guests', 'it already is one of visitors')
  await owner.put(one, { ...visitors, is_anonymous: false })
  t.deepEqual((await owner.get(`${one}/members`)).data, [])
})

test('roles: a role is assigned only to members and service accounts of its workspace', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const other = await createOrg(w, 'Other')
  const role = await createRole(w, w.org, [allow('types:read')])
  const members = `${path}/iam/groups/${role}/members`
  const person = await createMember(w, w.org)
  const service = await createService(w, w.org)
  for (const { id } of [person, service, person]) t.is((await owner.post(members, { user_id: id })).status, 204)
  t.deepEqual((await owner.get(members)).data, [
    { id: person.id, type: 'user', name: 'Max Member' },
    { id: service.id, type: 'service', name: 'Robot' },
  ])
  const strangers = [other.ownerId, (await createService(w, other)).id, randomUUID(), 'x']
  for (const id of strangers) {
    t.is((await owner.post(members, { user_id: id })).status, 404)
    t.is((await owner.delete(`${members}/${id}`)).status, 404)
  }
  t.is((await owner.post(members, {})).body.error.message, 'user_id is required')
  const foreign = await createRole(w, other, [])
  for (const id of [foreign, randomUUID(), 'x']) {
    t.is((await owner.get(`${path}/iam/groups/${id}`)).status, 404)
    t.is((await owner.put(`${path}/iam/groups/${id}`, { name: 'X' })).status, 404)
    t.is((await owner.delete(`${path}/iam/groups/${id}`)).status, 404)
    t.is((await owner.get(`${path}/iam/groups/${id}/members`)).status, 404)
    t.is((await owner.post(`${path}/iam/groups/${id}/members`, { user_id: person.id })).status, 404)
  }
  t.is((await owner.delete(`${members}/${person.id}`)).status, 204)
  t.is((await owner.delete(`${members}/${person.id}`)).status, 404)
  await owner.delete(`${path}/service-accounts/${service.id}`)
  t.deepEqual((await owner.get(members)).data, [])
})

test('roles: each route needs its own permission', async (t) => {
  const w = await fresh()
  const { path } = w.org
  const role = await createRole(w, w.org, [])
  const groups = await createMember(w, w.org, [allow('iam:manage_groups')])
  const members = await createMember(w, w.org, [allow('iam:manage_members')])
  const simulators = await createMember(w, w.org, [allow('iam:simulate')])
  const calls = [
    ...['GET', 'POST'].map((method) => [method, `${path}/iam/groups`, groups] as const),
    ...['GET', 'PUT'].map((method) => [method, `${path}/iam/groups/${role}`, groups] as const),
    ['GET', `${path}/iam/groups/${role}/members`, groups] as const,
    ['POST', `${path}/iam/groups/${role}/members`, members] as const,
    ['DELETE', `${path}/iam/groups/${role}/members/${groups.id}`, members] as const,
    ['POST', `${path}/iam/simulate`, simulators] as const,
    ['DELETE', `${path}/iam/groups/${role}`, groups] as const,
  ]
  for (const [method, url, permitted] of calls) {
    for (const caller of [groups, members, simulators]) {
      const { status } = await caller.client.send(method, url, method === 'GET' || method === 'DELETE' ? undefined : {})
      if (caller === permitted) t.not(status, 403, `${method} ${url}`)
      else t.is(status, 403, `${method} ${url}`)
    }
    t.is((await w.visitor.send(method, url)).status, 401)
  }
})

test('roles: me returns the principal, its roles and all of their rules', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const { id, client } = await createMember(w, w.org)
  t.deepEqual((await client.get(`${path}/iam/me`)).data, {
    principal: { id, type: 'user', name: 'Max Member' },
    owner: false,
    roles: [],
    policy: [],
  })
  const [first, second] = [await createRole(w, w.org, [manage]), await createRole(w, w.org, [deny('audit:read'), allow('*')])]
  for (const role of [first, second]) await owner.post(`${path}/iam/groups/${role}/members`, { user_id: id })
  const { data } = await client.get(`${path}/iam/me`)
  const texts = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).sort()
  t.deepEqual(data.roles.map((role: { id: string }) => role.id).sort(), [first, second].sort())
  t.deepEqual(texts(data.policy), texts([manage, deny('audit:read'), allow('*')]))
  t.like((await owner.get(`${path}/iam/me`)).data, {
    principal: { id: w.org.ownerId, name: 'Olive Owner' },
    owner: true,
    roles: [],
    policy: [],
  })
})

test('roles: the owner may do everything, whatever role it holds', async (t) => {
  const w = await fresh()
  const { owner, path, ownerId } = w.org
  const role = await createRole(w, w.org, [deny('*')])
  t.is((await owner.post(`${path}/iam/groups/${role}/members`, { user_id: ownerId })).status, 204)
  t.is((await owner.get(`${path}/types`)).status, 200)
  t.is((await owner.delete(`${path}/iam/groups/${role}`)).status, 204)
})

test('roles: a role that is assigned while its holder is removed leaves no assignment', async (t) => {
  const w = await fresh()
  const role = await createRole(w, w.org, [allow('types:read')])
  const { id } = await createMember(w, w.org)
  const { status } = await whileWaiting(
    w,
    (other) => deleteMember(other, id),
    () => w.org.owner.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: id }),
  )
  t.is(status, 404)
  t.is(await countRows(w.db, 'role_members', w.org.id), 0)
})

test('roles: a role that becomes one of visitors while it is assigned has no holder', async (t) => {
  const w = await fresh()
  const role = await createRole(w, w.org, [allow('types:read')])
  const { id } = await createMember(w, w.org)
  const { status } = await whileWaiting(
    w,
    (other) => makeRoleAnonymous(other, role),
    () => w.org.owner.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: id }),
  )
  t.is(status, 400)
  t.is(await countRows(w.db, 'role_members', w.org.id), 0)
})
