import test from 'ava'
import { atOnce, openArena, rounds, tally } from '#test/races/arena.ts'
import { createAccount, fromAnywhere, password, resetToken, signIn } from '#test/support/account.ts'

// Passwords are slow to hash on purpose, so there are fewer rounds.
const arena = openArena(test, { TRUST_PROXY: '1' })

test('passwords: one of several changes of a password succeeds and sets the password', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds / 4; round++) {
    const { client, email } = await createAccount(w)
    const next = Array.from({ length: 6 }, (_, index) => `next password ${index}`)
    const answers = await atOnce(6, arena.pair(client), (caller, index) =>
      caller.post('/v1/auth/password', { current: password, next: next[index] }, fromAnywhere()),
    )
    t.deepEqual(tally(answers), { 204: 1, 401: 5 })
    const winner = next[answers.findIndex(({ status }) => status === 204)]
    t.is((await signIn(w.visitor, email, winner)).status, 200)
    t.is((await client.get('/v1/auth/me')).status, 200, 'its own session stays valid')
  }
})

test('passwords: the old password sets no new one while it is reset', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds / 4; round++) {
    const { client, email, id } = await createAccount(w)
    const token = await resetToken(w, id)
    const [changes, reset] = await Promise.all([
      atOnce(4, arena.pair(client), (caller, index) =>
        caller.post('/v1/auth/password', { current: password, next: `stolen ${index}` }, fromAnywhere()),
      ),
      arena.pair(w.visitor)[1].post('/v1/auth/reset', { token, password: 'the true one' }, fromAnywhere()),
    ])
    for (const { status } of changes) t.true(status === 204 || status === 401)
    // A change that came first invalidates the mailed token; otherwise the token's password stays.
    const isChanged = changes.some(({ status }) => status === 204)
    t.true(reset.status === 204 || (isChanged && reset.status === 400), reset.text)
    t.is((await signIn(w.visitor, email, 'the true one')).status, reset.status === 204 ? 200 : 401)
  }
})
