import { randomUUID } from 'node:crypto'
import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { fromAnywhere } from '#test/support/account.ts'

const arena = openArena(test, { TRUST_PROXY: '1' })

test('limits: 60 of 100 calls from one address at both processes are accepted, and each response holds the number that is left', async (t) => {
  await arena.open()
  const { world, pair } = arena
  for (let round = 0; round < rounds; round++) {
    const address = fromAnywhere()
    const answers = await atOnce(100, pair(world().visitor), (client) => client.get(`/fn/${world().org.id}/${randomUUID()}`, address))
    t.deepEqual(tally(answers), { 404: 60, 429: 40 })
    const left = answers.filter(({ status }) => status === 404).map(({ headers }) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    t.deepEqual(
      left.map(Number).sort((one, other) => one - other),
      Array.from({ length: 60 }, (_, index) => index),
    )
  }
})

test('limits: ten of 40 guesses of one password from many addresses are tried', async (t) => {
  await arena.open()
  const { world, pair } = arena
  for (let round = 0; round < rounds / 4; round++) {
    const email = `${randomUUID()}@example.com`
    const answers = await atOnce(40, pair(world().visitor), (client) =>
      client.post('/v1/auth/sign-in', { email, password: 'wrong' }, fromAnywhere()),
    )
    t.deepEqual(tally(answers), { 401: 10, 429: 30 })
  }
})
