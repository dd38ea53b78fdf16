import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'

const arena = openArena(test)

test('names: a menu group that twenty callers create under one name is created once and changed by the others', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const slug = `group-${round}`
    const answers = await atOnce(20, ring.owners, (client, index) => client.post(`${ring.path}/modules`, { slug, name: `Name ${index}` }))
    t.deepEqual(tally(answers), { 200: 19, 201: 1 })
    const groups = (await ring.owner.get(`${ring.path}/modules`)).data as readonly { slug: string; name: string }[]
    t.is(groups.length, round + 1)
    t.regex(groups.find((group) => group.slug === slug)?.name ?? '', /^Name \d+$/)
  }
})

test('names: an address that twenty callers invite at once gets one invitation and one mail', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const spelt = [`Guest-${round}@example.com`, `guest-${round}@EXAMPLE.com`]
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.post(`${ring.path}/members`, { email: spelt[index % 3 === 0 ? 0 : 1] }),
    )
    t.deepEqual(tally(answers), { 201: 20 })
    const open = (await ring.owner.get(`${ring.path}/invitations`)).data as readonly { id: string }[]
    t.is(open.length, round + 1)
    t.deepEqual([...new Set(answers.map(({ data }) => data.id))], [open.at(-1)?.id])
  }
  await arena.world().drain()
})
