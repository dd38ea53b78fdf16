import test from 'ava'
import { atOnce, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { createMember } from '#test/support/factories.ts'
import { settle, type Things } from '#test/support/things.ts'

const arena = openArena(test)

interface Made {
  readonly ring: Ring
  readonly things: Things
}

/** Things that can be deleted: each entry creates one and returns its path in the workspace. Things with their own race are not here. */
const deletable: Readonly<Record<string, (made: Made) => Promise<string>>> = {
  'a role': async ({ things }) => `/iam/groups/${await things.role()}`,
  'what somebody holds a role by': async ({ ring, things }) => {
    const [role, { id }] = [await things.role(), await createMember(arena.world(), ring)]
    await things.hold(role, id)
    return `/iam/groups/${role}/members/${id}`
  },
  'a member': async ({ ring }) => `/members/${(await createMember(arena.world(), ring)).id}`,
  'an invitation': async ({ things }) => `/invitations/${await things.invitation()}`,
  'a service account': async ({ things }) => `/service-accounts/${await things.service()}`,
  'a notification rule': async ({ things }) => `/notification-rules/${await things.rule()}`,
  'a menu group': async ({ things }) => `/modules/${await things.module()}`,
  'a function': async ({ things }) => `/functions/${await things.fn()}`,
  'a type': async ({ things }) => `/types/${await things.type()}`,
}

for (const [name, make] of Object.entries(deletable)) {
  test(`deletions: ${name} that twenty callers delete at once is deleted once`, async (t) => {
    const ring = await arena.ring()
    const { things } = await settle(arena.world(), ring)
    for (let round = 0; round < rounds; round++) {
      const path = ring.path + (await make({ ring, things }))
      const [answers, others] = await Promise.all([
        atOnce(20, ring.owners, (client) => client.delete(path)),
        atOnce(4, ring.owners, (client) => client.get(path)),
      ])
      t.deepEqual(tally(answers), { 204: 1, 404: 19 })
      for (const { status } of others) t.true(status === 200 || status === 404, `${status}`)
    }
    await arena.world().drain()
  })
}
