import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { createMember } from '#test/support/factories.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test, { PUBLIC_URL: 'https://kontor.example', TRUST_PROXY: '1' })

test('people events: who joins or is removed, and changes of roles, are told to who manages them', async (t) => {
  const w = await fresh()
  const { owner, ownerId, path } = w.org
  const after = await lastSeq(w)
  const email = 'planted@example.com'
  await owner.post(`${path}/members`, { email, role_ids: [] })
  const token = await mailedToken(w, email)
  const joined = await w.visitor.post('/v1/auth/accept-invite', { token, name: 'Planted', password: 'a password of mine' })
  t.is(joined.status, 200)
  const { id } = joined.data.user
  const role = (await owner.post(`${path}/iam/groups`, { name: 'Readers', policy: [] })).data
  t.is((await owner.put(`${path}/iam/groups/${role.id}`, { name: 'Planted readers', policy: [] })).status, 200)
  t.is((await owner.put(`${path}/iam/groups/${role.id}`, { name: 'Planted readers', policy: [] })).status, 200, 'again')
  t.is((await owner.delete(`${path}/iam/groups/${role.id}`)).status, 204)
  t.is((await owner.delete(`${path}/members/${id}`)).status, 204)
  t.is((await owner.delete(`${path}/members/${id}`)).status, 404)
  const brief = async (actions: readonly string[]) => {
    const { client } = await createMember(w, w.org, actions.length > 0 ? [{ effect: 'allow', actions }] : [])
    return (await readAll(w, client, after)).map(({ type, actor, subject, data }) => ({ type, actor: actor.id, subject, data }))
  }
  const members = [
    { type: 'members.joined', actor: id, subject: { id }, data: {} },
    { type: 'members.left', actor: ownerId, subject: { id }, data: {} },
  ]
  const roles = ['created', 'updated', 'deleted'].map((change) => ({
    type: 'roles.changed',
    actor: ownerId,
    subject: { id: role.id },
    data: { change },
  }))
  t.deepEqual(await brief(['iam:manage_members']), members)
  t.deepEqual(await brief(['iam:manage_groups']), roles)
  t.deepEqual(await brief([]), [])
})
