import test from 'ava'
import { atOnce, made, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { countRolesOf } from '#test/races/rows.ts'
import { createMember, createRole } from '#test/support/factories.ts'

const arena = openArena(test)

const manage = { effect: 'allow', actions: ['iam:manage_members', 'iam:manage_groups'] }

/** Two members who may manage members and roles, each by its own role. */
async function twoAdmins(ring: Ring) {
  const w = arena.world()
  const admins = await Promise.all([createMember(w, ring, [manage]), createMember(w, ring, [manage])])
  const [one, other] = admins.map(({ id, client }, index) => ({ id, client: arena.pair(client)[index === 0 ? 0 : 1] }))
  if (!one || !other) throw new Error('There are two')
  return [one, other] as const
}

const roleOf = async (ring: Ring, userId: string): Promise<string> =>
  (await made(ring.owner.get(`${ring.path}/members/${userId}`))).roles[0].id

test('members: of two admins who remove each other one stays', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const [one, other] = await twoAdmins(ring)
    const answers = await Promise.all([
      one.client.delete(`${ring.path}/members/${other.id}`),
      other.client.delete(`${ring.path}/members/${one.id}`),
    ])
    t.deepEqual(tally(answers), { 204: 1, 404: 1 })
    const left = (await ring.owner.get(`${ring.path}/members`)).data.filter(({ id }: { id: string }) => id === one.id || id === other.id)
    t.is(left.length, 1)
  }
})

test('members: of two admins who take each other’s role one keeps it', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const [one, other] = await twoAdmins(ring)
    const [first, second] = [await roleOf(ring, one.id), await roleOf(ring, other.id)]
    const answers = await Promise.all([
      one.client.delete(`${ring.path}/iam/groups/${second}/members/${other.id}`),
      round % 2 === 0
        ? other.client.delete(`${ring.path}/iam/groups/${first}`)
        : other.client.put(`${ring.path}/iam/groups/${first}`, { name: 'Nothing', policy: [] }),
    ])
    t.is(answers.filter(({ status }) => status < 300).length, 1, answers.map(({ status, text }) => `${status} ${text}`).join())
    t.is(answers.filter(({ status }) => status === 403).length, 1)
  }
})

test('members: the owner cannot be removed by calls at once', async (t) => {
  const ring = await arena.ring()
  const { client } = await createMember(arena.world(), ring, [manage])
  const callers = arena.pair(client)
  const answers = await atOnce(20, callers, (caller, index) =>
    (index % 4 < 2 ? caller : ring.owner).delete(`${ring.path}/members/${ring.ownerId}`),
  )
  t.deepEqual(tally(answers), { 400: 20 })
})

test('members: a member who is removed while inviting leaves no invitation', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const { id, client } = await createMember(arena.world(), ring, [manage])
    const [invited, removed] = await Promise.all([
      atOnce(4, arena.pair(client), (caller, index) =>
        caller.post(`${ring.path}/members`, { email: `${round}-${index}-${id}@example.com` }),
      ),
      ring.owners[1].delete(`${ring.path}/members/${id}`),
    ])
    t.is(removed.status, 204)
    for (const { status } of invited) t.true(status === 201 || status === 404)
    t.deepEqual((await ring.owner.get(`${ring.path}/invitations`)).data, [])
  }
})

test('members: a member who is removed while a role is assigned does not hold it after returning', async (t) => {
  const ring = await arena.ring()
  const w = arena.world()
  const role = await createRole(w, ring, [manage])
  for (let round = 0; round < rounds; round++) {
    const { id } = await createMember(w, ring)
    const [given, removed] = await Promise.all([
      atOnce(6, ring.owners, (client) => client.post(`${ring.path}/iam/groups/${role}/members`, { user_id: id })),
      ring.owners[1].delete(`${ring.path}/members/${id}`),
    ])
    t.is(removed.status, 204)
    for (const { status } of given) t.true(status === 204 || status === 404)
    t.deepEqual((await ring.owner.get(`${ring.path}/iam/groups/${role}/members`)).data, [])
    t.is(await countRolesOf(w.db, id), 0)
  }
})
