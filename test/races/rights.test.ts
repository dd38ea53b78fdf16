import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { createMember, createRole } from '#test/support/factories.ts'
import { assignRole } from '#test/support/rows.ts'

const arena = openArena(test)

const policyOf = (kb: number) => [
  { effect: 'allow', actions: ['types:read'], condition: { 'resource.id': { eq: 'x'.repeat(kb * 1_024) } } },
]

test('rights: ten of 20 roles given at once to a member with 40 roles are given', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const w = arena.world()
    const { id } = await createMember(w, ring)
    const roles = await Promise.all(Array.from({ length: 60 }, () => createRole(w, ring, [])))
    for (const role of roles.slice(20)) await assignRole(w.db, ring.id, role, id)
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.post(`${ring.path}/iam/groups/${roles[index]}/members`, { user_id: id }),
    )
    t.deepEqual(tally(answers), { 204: 10, 400: 10 })
  }
})

test('rights: roles that grow and are given at once never take a holder beyond 256 KB', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const w = arena.world()
    const { id } = await createMember(w, ring)
    const roles = await Promise.all(Array.from({ length: 20 }, () => createRole(w, ring, policyOf(1))))
    for (const role of roles.slice(0, 10)) await assignRole(w.db, ring.id, role, id)
    const answers = await atOnce(20, ring.owners, (client, index) => {
      const role = `${ring.path}/iam/groups/${roles[index]}`
      return index < 10 ? client.put(role, { name: 'R', policy: policyOf(60) }) : client.post(`${role}/members`, { user_id: id })
    })
    const kept = await Promise.all(roles.map(async (role) => (await ring.owner.get(`${ring.path}/iam/groups/${role}`)).data.policy))
    const given = answers.map(({ status }, index) => index < 10 || status < 300)
    const bytes = kept.reduce((sum, policy, index) => sum + (given[index] ? Buffer.byteLength(JSON.stringify(policy)) : 0), 0)
    t.true(bytes <= 262_144, `${bytes} bytes`)
    t.true(bytes > 180_000, 'some of them grew')
    t.deepEqual(
      [...new Set(answers.map(({ status }) => status))].filter((status) => ![200, 204, 400].includes(status)),
      [],
    )
  }
})
