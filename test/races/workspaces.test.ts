import test from 'ava'
import { atOnce, made, openArena, rounds, tally } from '#test/races/arena.ts'
import { createPerson } from '#test/support/factories.ts'

const arena = openArena(test)

test('workspaces: workspaces that are created at once are all set up separately', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds / 10; round++) {
    const { client } = await createPerson(w, 'Fay Founder')
    const founders = arena.pair(client)
    const answers = await atOnce(10, founders, (caller, index) => caller.post('/v1/orgs', { name: `Org ${index}` }))
    t.deepEqual(tally(answers), { 201: 10 })
    await w.drain()
    const paths = answers.map(({ data }) => `/v1/orgs/${data.id}`)
    const types = await Promise.all(paths.map((path, index) => made((founders[index % 2] ?? client).get(`${path}/types`))))
    t.deepEqual(
      types.map((list) => list.length),
      Array(10).fill(4),
    )
    t.is((await made(client.get('/v1/orgs'))).length, 10)
  }
})

test('workspaces: a workspace that is requested repeatedly with one key is created once', async (t) => {
  await arena.open()
  const w = arena.world()
  const { client } = await createPerson(w, 'Fay Founder')
  for (let round = 0; round < rounds; round++) {
    const answers = await atOnce(10, arena.pair(client), (caller) =>
      caller.post('/v1/orgs', { name: `Org ${round}` }, { 'idempotency-key': `${round}` }),
    )
    t.deepEqual(tally(answers), { 201: 10 })
    t.is(new Set(answers.map(({ data }) => data.id)).size, 1)
  }
  await w.drain()
  t.is((await made(client.get('/v1/orgs'))).length, rounds)
})
