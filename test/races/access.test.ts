import test from 'ava'
import { atOnce, made, openArena, rounds, tally } from '#test/races/arena.ts'
import { countRolesOf } from '#test/races/rows.ts'
import { createMember, createRole } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'

const arena = openArena(test)

const read = { effect: 'allow', actions: ['types:read'] }

test('access: a role that is deleted while it is assigned has no holder', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const { id } = await createMember(w, ring)
  for (let round = 0; round < rounds; round++) {
    const role = `${ring.path}/iam/groups/${await createRole(w, ring, [read])}`
    const answers = await atOnce(20, ring.owners, async (client, index) =>
      index % 5 === 4
        ? { ...(await client.delete(role)), isDeletion: true }
        : { ...(await client.post(`${role}/members`, { user_id: id })), isDeletion: false },
    )
    t.deepEqual(tally(answers.filter(({ isDeletion }) => isDeletion)), { 204: 1, 404: 3 })
    for (const { status, isDeletion } of answers) t.true(isDeletion || status === 204 || status === 404)
    t.deepEqual((await ring.owner.get(`${ring.path}/members/${id}`)).data.roles, [])
    t.is(await countRolesOf(w.db, id), 0)
  }
})

test('access: a role that becomes one of visitors while it is assigned has no holder', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const { id } = await createMember(w, ring)
  for (let round = 0; round < rounds; round++) {
    const role = `${ring.path}/iam/groups/${await createRole(w, ring, [read])}`
    const [given, changed] = await Promise.all([
      atOnce(10, ring.owners, (client) => client.post(`${role}/members`, { user_id: id })),
      ring.owners[1].put(role, { name: 'Visitors', policy: [read], is_anonymous: true }),
    ])
    t.is(changed.status, 200)
    for (const { status } of given) t.true(status === 204 || status === 400)
    t.is(await countRolesOf(w.db, id), 0)
  }
})

test('access: a key is revoked once, and no later call is accepted', async (t) => {
  const ring = await arena.ring()
  const account = `${ring.path}/service-accounts/${(await made(ring.owner.post(`${ring.path}/service-accounts`, { name: 'Robot' }))).id}`
  for (let round = 0; round < rounds; round++) {
    const { id, key } = await made(ring.owner.post(`${account}/keys`, {}))
    const robots = arena.pair(ring.owner.as(key))
    const calls = atOnce(20, robots, (client) => client.get(ring.path))
    t.deepEqual(tally(await atOnce(20, ring.owners, (client) => client.delete(`${account}/keys/${id}`))), { 204: 1, 404: 19 })
    t.deepEqual(tally(await atOnce(20, robots, (client) => client.get(ring.path))), { 401: 20 })
    for (const { status } of await calls) t.true(status === 200 || status === 401)
  }
})

test('access: an account that is deleted while keys are created leaves no valid key', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const account = `${ring.path}/service-accounts/${(await made(ring.owner.post(`${ring.path}/service-accounts`, { name: 'Robot' }))).id}`
    const [answers, deleted] = await Promise.all([
      atOnce(10, ring.owners, (client) => client.post(`${account}/keys`, {})),
      ring.owners[1].delete(account),
    ])
    t.is(deleted.status, 204)
    const keys = answers.flatMap(({ status, data }) => (status === 201 ? data.key : []))
    t.is(tally(answers)[404] ?? 0, 10 - keys.length)
    for (const key of keys) t.is((await ring.owners[1].as(key).get(ring.path)).status, 401)
    t.is(await countRows(arena.world().db, 'access_keys', ring.id), 0)
  }
})

test('access: a narrowed role applies to every write that begins later', async (t) => {
  const ring = await arena.ring()
  const write = { effect: 'allow', actions: ['records:create', 'records:read'], resources: ['locations'] }
  const role = await createRole(arena.world(), ring, [write])
  const { id, client } = await createMember(arena.world(), ring)
  await made(ring.owner.post(`${ring.path}/iam/groups/${role}/members`, { user_id: id }))
  const [records, body] = [`${ring.path}/records/locations`, { values: { name: 'x' } }]
  for (let round = 0; round < rounds; round++) {
    const writing = atOnce(10, arena.pair(client), (caller) => caller.post(records, body))
    t.is((await ring.owner.put(`${ring.path}/iam/groups/${role}`, { name: 'Less', policy: [] })).status, 200)
    t.deepEqual(tally(await atOnce(10, arena.pair(client), (caller) => caller.post(records, body))), { 403: 10 })
    for (const { status } of await writing) t.true(status === 201 || status === 403)
    t.is((await ring.owner.put(`${ring.path}/iam/groups/${role}`, { name: 'More', policy: [write] })).status, 200)
  }
})
