import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { mailsTo } from '#test/support/mailbox.ts'

const arena = openArena(test)

test('invitations: 20 invitations of one address at once are one invitation and one mail', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const email = `${ring.id}@example.com`
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.post(`${ring.path}/members`, { email: index % 3 === 0 ? email.toUpperCase() : email }),
    )
    t.deepEqual(tally(answers), { 201: 20 })
    t.is(new Set(answers.map(({ data }) => JSON.stringify(data))).size, 1)
    await arena.world().drain()
    t.is((await mailsTo(arena.world(), email)).length, 1)
  }
})
