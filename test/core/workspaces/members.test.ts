import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createMember, createOrg, createPerson, createService } from '#test/support/factories.ts'
import { addMember } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

const manage = [{ effect: 'allow', actions: ['iam:manage_members'] }]

test('members: a removed member has no access from the next request on, in every process, and has no roles after returning', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { id, client } = await createMember(w, w.org, manage)
  const elsewhere = second.as(client.token)
  t.is((await elsewhere.get(w.org.path)).status, 200)
  t.is((await w.org.owner.delete(`${w.org.path}/members/${id}`)).status, 204)
  t.is((await elsewhere.get(w.org.path)).status, 404)
  t.is((await client.get(w.org.path)).status, 404)
  t.is((await client.get('/v1/auth/me')).status, 200, 'the account stays')
  t.is((await w.org.owner.delete(`${w.org.path}/members/${id}`)).status, 404)
  await addMember(w.db, w.org.id, id)
  t.deepEqual((await elsewhere.get(`${w.org.path}/iam/me`)).data.roles, [])
})

test('members: the owner cannot be removed by any caller', async (t) => {
  const w = await fresh()
  const manager = await createMember(w, w.org, manage)
  for (const client of [w.org.owner, manager.client]) {
    for (const id of [w.org.ownerId, w.org.ownerId.toUpperCase()]) {
      const { status, body } = await client.delete(`${w.org.path}/members/${id}`)
      t.deepEqual([status, body.error.message], [400, 'userId is the owner, who cannot be removed'])
    }
  }
  t.is((await w.org.owner.get(w.org.path)).status, 200)
})

test('members: a person of another workspace is not found', async (t) => {
  const w = await fresh()
  const other = await createOrg(w, 'Other')
  const elsewhere = await createMember(w, other)
  const service = await createService(w, w.org)
  for (const id of [elsewhere.id, other.ownerId, service.id, randomUUID(), 'x']) {
    t.is((await w.org.owner.get(`${w.org.path}/members/${id}`)).status, 404)
    t.is((await w.org.owner.delete(`${w.org.path}/members/${id}`)).status, 404)
  }
  const { data } = await other.owner.post(`${other.path}/members`, { email: 'bob@example.com' })
  t.is((await w.org.owner.delete(`${w.org.path}/invitations/${data.id}`)).status, 404)
  t.is((await other.owner.get(`${other.path}/invitations`)).data.length, 1)
})

test('members: any member lists the members; inviting and removing needs iam:manage_members', async (t) => {
  const w = await fresh()
  const plain = await createMember(w, w.org)
  const manager = await createService(w, w.org, manage)
  const { path } = w.org
  const { data } = await plain.client.get(`${path}/members`)
  t.deepEqual((await plain.client.get(`${path}/members/${plain.id}`)).data, data[1])
  const refused = [
    plain.client.post(`${path}/members`, { email: 'not even valid' }),
    plain.client.delete(`${path}/members/${manager.id}`),
    plain.client.get(`${path}/invitations`),
    plain.client.delete(`${path}/invitations/${randomUUID()}`),
  ]
  for (const { status, body } of await Promise.all(refused)) t.deepEqual([status, body.error.message], [403, 'Needs iam:manage_members'])
  t.is((await manager.client.post(`${path}/members`, { email: 'bob@example.com' })).status, 201)
  t.is((await manager.client.delete(`${path}/members/${plain.id}`)).status, 204)
  t.is((await (await createPerson(w, 'Stranger')).client.get(`${path}/members`)).status, 404)
})
