import { randomUUID } from 'node:crypto'
import test from 'ava'
import { addSentInvitations, ageInvitations, ageMails, countUsers, expireInvitations, readInvitations } from '#test/core/workspaces/rows.ts'
import { createAccount, fromAnywhere, password } from '#test/support/account.ts'
import { createMember, createOrg, createRole, createService } from '#test/support/factories.ts'
import { mailedToken, mailsTo } from '#test/support/mailbox.ts'
import { countRows, setWorkspaceStatus } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test, { PUBLIC_URL: 'https://kontor.example', TRUST_PROXY: '1' })
const address = () => `${randomUUID()}@example.com`

const chosen = { name: 'Bob Brown', password: 'a password of mine' }
const manage = [{ effect: 'allow', actions: ['iam:manage_members'] }]

/** Invites an address as the owner and returns the mailed token. */
async function invited(w: World, email: string, roleIds: readonly string[] = []): Promise<string> {
  const { status } = await w.org.owner.post(`${w.org.path}/members`, { email, role_ids: roleIds })
  if (status !== 201) throw new Error(`inviting ${email} answered ${status}`)
  return mailedToken(w, email)
}

/** Skips the minute in which a second invitation sends nothing. */
const aMinuteLater = (w: World) => ageInvitations(w.db, { workspaceId: w.org.id }, 60)

test('invitations: an invited person gets a mail, creates an account and is a member with the roles of the invitation', async (t) => {
  const w = await fresh()
  const bob = address()
  const role = await createRole(w, w.org, [{ effect: 'allow', actions: ['types:read'] }])
  const sent = await w.org.owner.post(`${w.org.path}/members`, { email: bob, role_ids: [role] })
  t.is(sent.status, 201)
  t.like(sent.data, { email: bob, roles: [{ id: role }] })
  t.true(Math.abs(Date.parse(sent.data.expires_at) - Date.now() - 7 * 86_400_000) < 60_000)
  t.deepEqual((await w.org.owner.get(`${w.org.path}/invitations`)).data, [sent.data])
  t.is((await w.org.owner.get(`${w.org.path}/members`)).data.length, 1, 'the person becomes a member by accepting')

  const token = await mailedToken(w, bob)
  const [mail] = await mailsTo(w, bob)
  t.is(mail?.subject, 'Join Acme')
  t.true(mail?.text?.startsWith('Hello,\n\nOlive Owner invites you to the workspace "Acme" at Kontor.'))
  t.true(mail?.text?.includes(`https://kontor.example/accept-invite?token=${token}\n`))
  const stored = await readInvitations(w.db, w.org.id)
  t.is(stored.length, 1)
  t.false(JSON.stringify(stored).includes(token))

  const joined = await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })
  t.is(joined.status, 200)
  t.like(joined.data, { org_id: w.org.id, user: { email: bob, name: 'Bob Brown' } })
  const member = w.visitor.as(joined.data.token)
  t.is((await member.get(`${w.org.path}/types`)).status, 200)
  t.is((await member.get(`${w.org.path}/iam/groups`)).status, 403)
  const { data: members } = await member.get(`${w.org.path}/members`)
  t.like(members[0], { id: w.org.ownerId, type: 'user', name: 'Olive Owner', owner: true, roles: [] })
  t.like(members[1], { id: joined.data.user.id, type: 'user', name: 'Bob Brown', email: bob, owner: false })
  t.deepEqual(
    members[1].roles.map(({ id }: { id: string }) => id),
    [role],
  )
  t.deepEqual((await w.org.owner.get(`${w.org.path}/invitations`)).data, [])
  t.is((await w.visitor.post('/v1/auth/sign-in', { email: bob, password: chosen.password })).status, 200)
  t.is((await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })).status, 400, 'a token works once')
})

test('invitations: a person with an account joins with its own password, and the name stays', async (t) => {
  const w = await fresh()
  const { id, email, client } = await createAccount(w)
  const token = await invited(w, email.toUpperCase())
  const wrong = await w.visitor.post('/v1/auth/accept-invite', { token, name: 'Thief', password: 'not the right one' })
  t.deepEqual([wrong.status, wrong.body.error.code], [401, 'UNAUTHORIZED'])
  t.is((await client.get(w.org.path)).status, 404)
  const joined = await w.visitor.post('/v1/auth/accept-invite', { token, name: 'Another name', password })
  t.like(joined.data, { user: { id, name: 'Ann Account' }, org_id: w.org.id })
  t.is((await client.get(w.org.path)).status, 200, 'its other sessions have access too')
  t.is((await w.visitor.post('/v1/auth/sign-in', { email, password })).status, 200)
})

test('invitations: one of 20 acceptances of one invitation at once joins', async (t) => {
  const w = await fresh()
  const bob = address()
  const second = await startSecondApi(t, w)
  const token = await invited(w, bob)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? w.visitor : second).post('/v1/auth/accept-invite', { token, ...chosen }, fromAnywhere()),
    ),
  )
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.is(answers.filter(({ status }) => [400, 401, 429].includes(status)).length, 19)
  t.is(await countUsers(w.db, [bob]), 1)
  t.is((await w.org.owner.get(`${w.org.path}/members`)).data.length, 2)
})

test('invitations: invitations of several workspaces that are accepted at once create one account', async (t) => {
  const w = await fresh()
  const bob = address()
  const orgs = await Promise.all(Array.from({ length: 5 }, (_, index) => createOrg(w, `Org ${index}`)))
  for (const org of orgs) await org.owner.post(`${org.path}/members`, { email: bob })
  await w.drain()
  const tokens = (await mailsTo(w, bob)).map(({ text }) => /^[0-9A-Za-z]{43}$/m.exec(text ?? '')?.[0])
  const answers = await Promise.all(tokens.map((token) => w.visitor.post('/v1/auth/accept-invite', { token, ...chosen }, fromAnywhere())))
  t.deepEqual(
    answers.map(({ status }) => status),
    Array(5).fill(200),
  )
  t.is(new Set(answers.map(({ data }) => data.user.id)).size, 1)
  t.is((await w.visitor.as(answers[0]?.data.token).get('/v1/orgs')).data.length, 5)
})

test('invitations: a later invitation to an address replaces the earlier one', async (t) => {
  const w = await fresh()
  const bob = address()
  const role = await createRole(w, w.org, [{ effect: 'allow', actions: ['types:read'] }])
  const first = await invited(w, bob)
  await aMinuteLater(w)
  const later = await invited(w, bob.toUpperCase(), [role])
  t.is((await w.org.owner.get(`${w.org.path}/invitations`)).data.length, 1)
  t.is((await w.visitor.post('/v1/auth/accept-invite', { token: first, ...chosen })).status, 400)
  const joined = await w.visitor.post('/v1/auth/accept-invite', { token: later, ...chosen })
  t.is((await w.visitor.as(joined.data.token).get(`${w.org.path}/iam/me`)).data.roles[0].id, role)
  const again = await w.org.owner.post(`${w.org.path}/members`, { email: bob.toUpperCase() })
  t.deepEqual([again.status, again.body.error.code], [409, 'KEY_TAKEN'])
})

test('invitations: a second invitation within a minute keeps the token and sends nothing; other roles are taken', async (t) => {
  const w = await fresh()
  const bob = address()
  const role = await createRole(w, w.org, [{ effect: 'allow', actions: ['types:read'] }])
  const invite = (more: object = {}) => w.org.owner.post(`${w.org.path}/members`, { email: bob, ...more })
  const first = await invite({ role_ids: [role] })
  const token = await mailedToken(w, bob)
  await ageInvitations(w.db, { workspaceId: w.org.id }, 30)
  const again = await invite()
  t.is(again.status, 201)
  t.deepEqual({ ...again.data, created_at: '' }, { ...first.data, created_at: '' })
  t.like((await invite({ role_ids: [] })).data, { id: first.data.id, roles: [] })
  await w.drain()
  t.is((await mailsTo(w, bob)).length, 1)
  await ageInvitations(w.db, { workspaceId: w.org.id }, 30)
  t.not((await invite()).data.id, first.data.id)
  t.not(await mailedToken(w, bob), token)
  t.is((await mailsTo(w, bob)).length, 2)
})

test('invitations: an invitation ends after seven days, when it is revoked, and with the member who sent it', async (t) => {
  const w = await fresh()
  const accept = async (token: string) => (await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })).status
  const old = await invited(w, 'old@example.com')
  await expireInvitations(w.db, w.org.id)
  t.is(await accept(old), 400)
  t.deepEqual((await w.org.owner.get(`${w.org.path}/invitations`)).data, [])

  const back = await invited(w, 'back@example.com')
  const [open] = (await w.org.owner.get(`${w.org.path}/invitations`)).data
  t.is((await w.org.owner.delete(`${w.org.path}/invitations/${open.id}`)).status, 204)
  t.is((await w.org.owner.delete(`${w.org.path}/invitations/${open.id}`)).status, 404)
  t.is(await accept(back), 400)

  const inviter = await createMember(w, w.org, manage)
  t.is((await inviter.client.post(`${w.org.path}/members`, { email: 'friend@example.com' })).status, 201)
  const friend = await mailedToken(w, 'friend@example.com')
  t.is((await w.org.owner.delete(`${w.org.path}/members/${inviter.id}`)).status, 204)
  t.is(await accept(friend), 400)
  t.is(await countUsers(w.db, ['old@example.com', 'back@example.com', 'friend@example.com']), 0)
})

test('invitations: a role that was deleted before an invitation is accepted is ignored', async (t) => {
  const w = await fresh()
  const bob = address()
  const roles = [await createRole(w, w.org, manage), await createRole(w, w.org, manage), await createRole(w, w.org, manage)]
  const token = await invited(w, bob, roles)
  await w.org.owner.delete(`${w.org.path}/iam/groups/${roles[0]}`)
  await w.org.owner.put(`${w.org.path}/iam/groups/${roles[1]}`, { name: 'Visitors', policy: manage, is_anonymous: true })
  const joined = await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })
  t.like((await w.visitor.as(joined.data.token).get(`${w.org.path}/iam/me`)).data, { roles: [{ id: roles[2] }] })
  t.is(await countRows(w.db, 'role_members', w.org.id), 1)
})

test('invitations: an invitation with a wrong address or role is refused', async (t) => {
  const w = await fresh()
  const other = await createOrg(w, 'Other')
  const foreign = await createRole(w, other, manage)
  const visitors = await createRole(w, w.org, manage, true)
  const own = await createRole(w, w.org, manage)
  const refusal = async (body: object) => {
    const { status, body: answer } = await w.org.owner.post(`${w.org.path}/members`, body)
    return status === 400 ? answer.error.message : status
  }
  t.is(await refusal({}), 'email is required')
  for (const email of ['', 'bob', 'bob@', 'a b@example.com', 'a@example.com\nBcc: b@example.com', 'Bob <bob@example.com>']) {
    t.is(await refusal({ email }), 'email must be a valid email')
  }
  t.is(await refusal({ email: 'b@example.com', role_ids: [own, foreign] }), 'role_ids[1] names no role of this workspace')
  t.is(await refusal({ email: 'b@example.com', role_ids: ['x'] }), 'role_ids[0] names no role of this workspace')
  t.is(await refusal({ email: 'b@example.com', role_ids: [randomUUID()] }), 'role_ids[0] names no role of this workspace')
  t.is(await refusal({ email: 'b@example.com', role_ids: [visitors] }), 'role_ids[0] names a role for visitors, which is given to nobody')
  t.is(await refusal({ email: 'b@example.com', role_ids: own }), 'role_ids must be an array')
  t.is(await refusal({ email: 'b@example.com', role_ids: Array(51).fill(own) }), 'role_ids must have at most 50 items')
  t.is(await countRows(w.db, 'outbox_mails', w.org.id), 0)
  t.is(await refusal({ email: 'jörg@bücher.example', role_ids: [own, own.toUpperCase()] }), 201)
})

test('invitations: a wrong token, name or password is refused and leaves the invitation as it is', async (t) => {
  const w = await fresh()
  const bob = address()
  const token = await invited(w, bob)
  const refusal = async (body: object) =>
    (await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen, ...body })).body.error?.message
  t.regex(await refusal({ token: `${token}x` }), /^token is not valid/)
  t.is(await refusal({ name: ' ' }), 'name must be a name of 1 to 120 characters in one line')
  t.is(await refusal({ password: '1234567' }), 'password must have at least 8 characters')
  t.is(await refusal({ password: 'x'.repeat(201) }), 'password must have at most 200 characters')
  t.is(await refusal({}), undefined)
})

test('invitations: a suspended workspace cannot be joined', async (t) => {
  const w = await fresh()
  const bob = address()
  const token = await invited(w, bob)
  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  const { status, body } = await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })
  t.deepEqual([status, body.error.code], [403, 'ORG_SUSPENDED'])
  t.is(await countUsers(w.db, [bob]), 0)
  await setWorkspaceStatus(w.db, w.org.id, 'active')
  t.is((await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })).status, 200)
})

test('invitations: invitations cannot flood an address with mail', async (t) => {
  const w = await fresh()
  const victim = address()
  const other = await createOrg(w, 'Other')
  const statuses = []
  for (let number = 1; number <= 11; number++) {
    const org = number % 2 ? w.org : other
    await ageInvitations(w.db, { email: victim }, 60)
    statuses.push((await org.owner.post(`${org.path}/members`, { email: number % 3 ? victim : victim.toUpperCase() })).status)
  }
  t.deepEqual(statuses, [...Array(10).fill(201), 429])
  await addSentInvitations(w.db, w.org.id, 494)
  t.is((await w.org.owner.post(`${w.org.path}/members`, { email: 'last@example.com' })).status, 201)
  const { status, headers } = await w.org.owner.post(`${w.org.path}/members`, { email: 'one-more@example.com' })
  t.is(status, 429)
  t.is(headers.get('retry-after'), '3600')
  t.is((await other.owner.post(`${other.path}/members`, { email: 'one-more@example.com' })).status, 201)
  await ageMails(w.db, [w.org.id, other.id])
  await aMinuteLater(w)
  t.is((await w.org.owner.post(`${w.org.path}/members`, { email: victim })).status, 201)
})

const readTypes = [{ effect: 'allow', actions: ['types:read'] }]
const readAndManage = [{ effect: 'allow', actions: ['types:read', 'iam:manage_members'] }]

/** Accepts the invitation of an address as a new person, and returns the ids of the roles that it holds then. */
async function rolesAfterJoining(w: World, email: string): Promise<string[]> {
  const { data } = await w.visitor.post('/v1/auth/accept-invite', { token: await mailedToken(w, email), ...chosen })
  const me = await w.visitor.as(data.token).get(`${w.org.path}/iam/me`)
  return me.data.roles.map(({ id }: { id: string }) => id)
}

const notices = async (w: World, client = w.org.owner): Promise<string[]> => {
  await w.drain()
  const { data } = await client.get(`${w.org.path}/notifications`)
  return data.notifications.map(({ title }: { title: string }) => title)
}

test('invitations: roles are those that the inviter may give when it is accepted, and those who manage members hear of others', async (t) => {
  const w = await fresh()
  const role = await createRole(w, w.org, readTypes)
  const deleted = await createRole(w, w.org, readTypes)
  const other = await createMember(w, w.org, manage)
  const plain = await createMember(w, w.org, readTypes)
  const inviter = await createMember(w, w.org, readAndManage, 'Ivo Inviter')
  const invite = (email: string, ids: readonly string[]) => inviter.client.post(`${w.org.path}/members`, { email, role_ids: ids })
  const [kept, narrowed, unable] = [address(), address(), address()]
  for (const email of [kept, narrowed, unable]) t.is((await invite(email, [role, deleted])).status, 201)
  await w.org.owner.delete(`${w.org.path}/iam/groups/${deleted}`)
  t.deepEqual(await rolesAfterJoining(w, kept), [role])
  t.deepEqual(await notices(w), [])
  const [held] = (await w.org.owner.get(`${w.org.path}/members/${inviter.id}`)).data.roles
  const change = (policy: readonly object[]) => w.org.owner.put(`${w.org.path}/iam/groups/${held.id}`, { name: held.name, policy })
  t.is((await change(manage)).status, 200)
  t.deepEqual(await rolesAfterJoining(w, narrowed), [], 'the inviter no longer holds what the role grants')
  const title = `Bob Brown joined without roles: Ivo Inviter, who invited, may not give them. Give them if you may: role ${role}`
  for (const client of [w.org.owner, other.client, inviter.client]) t.deepEqual(await notices(w, client), [title])
  t.is((await change(readTypes)).status, 200)
  t.deepEqual(await rolesAfterJoining(w, unable), [], 'the inviter no longer manages members')
  for (const client of [w.org.owner, other.client]) t.deepEqual(await notices(w, client), [title, title])
  t.deepEqual(await notices(w, inviter.client), [title], 'it no longer manages members')
  t.deepEqual(await notices(w, plain.client), [])
})

test('invitations: another manager renews an invitation in its own name, within the minute of the first one too', async (t) => {
  const w = await fresh()
  const role = await createRole(w, w.org, readTypes)
  const inviter = await createMember(w, w.org, readAndManage)
  const [soon, later, unnamed] = [address(), address(), address()]
  for (const email of [soon, later, unnamed])
    t.is((await inviter.client.post(`${w.org.path}/members`, { email, role_ids: [role] })).status, 201)
  await ageInvitations(w.db, { email: later }, 60)
  for (const email of [soon, later]) t.is((await w.org.owner.post(`${w.org.path}/members`, { email, role_ids: [role] })).status, 201)
  t.is((await w.org.owner.post(`${w.org.path}/members`, { email: unnamed })).status, 201)
  const [held] = (await w.org.owner.get(`${w.org.path}/members/${inviter.id}`)).data.roles
  await w.org.owner.put(`${w.org.path}/iam/groups/${held.id}`, { name: held.name, policy: [] })
  t.deepEqual(await rolesAfterJoining(w, soon), [role])
  t.deepEqual(await rolesAfterJoining(w, later), [role])
  t.deepEqual(await rolesAfterJoining(w, unnamed), [], 'a call that names no roles answers for none')
})

test('invitations: a deleted service account takes its invitations with it', async (t) => {
  const w = await fresh()
  const robot = await createService(w, w.org, readAndManage)
  const bob = address()
  t.is((await robot.client.post(`${w.org.path}/members`, { email: bob })).status, 201)
  const token = await mailedToken(w, bob)
  t.is((await w.org.owner.delete(`${w.org.path}/service-accounts/${robot.id}`)).status, 204)
  t.is((await w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })).status, 400)
  t.deepEqual((await w.org.owner.get(`${w.org.path}/invitations`)).data, [])
})
