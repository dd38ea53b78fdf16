import test from 'ava'
import { countUsers, expireInvitations } from '#test/core/workspaces/rows.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

const chosen = { name: 'Bob', password: 'a password of mine' }

test('member cap: a free workspace has five members, including invited ones', async (t) => {
  const w = await shared()
  const org = await createOrg(w, 'Small', 'free')
  const invite = (email: string) => org.owner.post(`${org.path}/members`, { email })
  await createMember(w, org)
  for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) t.is((await invite(email)).status, 201)
  const { status, body } = await invite('d@example.com')
  t.deepEqual([status, body.error.code], [402, 'LIMIT_EXCEEDED'])
  t.is((await invite('c@example.com')).status, 201, 'an invited address takes no more room')
  t.is((await invite('d@example.com')).status, 402)
  const [{ id }] = (await org.owner.get(`${org.path}/invitations`)).data
  await org.owner.delete(`${org.path}/invitations/${id}`)
  t.is((await invite('d@example.com')).status, 201, 'a revoked invitation makes room')
  await expireInvitations(w.db, org.id, 'd@example.com')
  t.is((await invite('e@example.com')).status, 201, 'an expired invitation makes room')
  t.is((await createService(w, org)).id.length, 36, 'service accounts are no members')
  t.is((await w.org.owner.post(`${w.org.path}/members`, { email: 'd@example.com' })).status, 201)
})

test('member cap: a workspace with more members that moves to the free plan takes no more, and loses none', async (t) => {
  const w = await world({ FREE_MEMBERS: '3' })
  t.teardown(w.close)
  const invite = (email: string) => w.org.owner.post(`${w.org.path}/members`, { email })
  await createMember(w, w.org)
  for (const email of ['a@example.com', 'b@example.com']) t.is((await invite(email)).status, 201)
  const tokens = [await mailedToken(w, 'a@example.com'), await mailedToken(w, 'b@example.com')]
  await setPlan(w.db, w.org.id, 'free')
  t.is((await invite('c@example.com')).status, 402)
  const answers = await Promise.all(tokens.map((token) => w.visitor.post('/v1/auth/accept-invite', { token, ...chosen })))
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 402])
  t.is((await w.org.owner.get(`${w.org.path}/members`)).data.length, 3)
  t.is((await w.org.owner.get(`${w.org.path}/invitations`)).data.length, 1, 'the other person can join once there is room')
  t.is(await countUsers(w.db, ['a@example.com', 'b@example.com']), 1)
})
