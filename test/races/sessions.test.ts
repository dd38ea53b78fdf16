import test from 'ava'
import { atOnce, made, openArena, rounds, tally } from '#test/races/arena.ts'
import { createAccount, fromAnywhere, password, resetToken, signIn } from '#test/support/account.ts'
import { createPerson } from '#test/support/factories.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'

const arena = openArena(test, { TRUST_PROXY: '1' })

test('sessions: a session that many callers end while it is used accepts no later call', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds; round++) {
    const { client } = await createPerson(w, 'Sam Session')
    const using = atOnce(20, arena.pair(client), (caller) => caller.get('/v1/auth/me'))
    const ended = tally(await atOnce(20, arena.pair(client), (caller) => caller.post('/v1/auth/sign-out')))
    t.true((ended[204] ?? 0) >= 1 && (ended[204] ?? 0) + (ended[401] ?? 0) === 20, JSON.stringify(ended))
    t.deepEqual(tally(await atOnce(20, arena.pair(client), (caller) => caller.get('/v1/auth/me'))), { 401: 20 })
    for (const { status } of await using) t.true(status === 200 || status === 401)
  }
})

test('sessions: a suspended workspace accepts no later call, and accepts all when it is active again', async (t) => {
  const ring = await arena.ring()
  const records = `${ring.path}/records/locations`
  const create = (count: number) => atOnce(count, ring.owners, (client) => client.post(records, { values: { name: 'x' } }))
  const become = (status: 'active' | 'suspended') => setWorkspaceStatus(arena.world().db, ring.id, status)
  for (let round = 0; round < rounds; round++) {
    const writing = create(20)
    await become('suspended')
    t.deepEqual(tally(await create(10)), { 403: 10 })
    for (const { status } of await writing) t.true(status === 201 || status === 403)
    await become('active')
    t.deepEqual(tally(await create(10)), { 201: 10 })
  }
})

test('sessions: a reset token that many callers use at once sets the password once', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds / 4; round++) {
    const { id, email } = await createAccount(w)
    const token = await resetToken(w, id)
    const chosen = (index: number) => `my new password ${index}`
    const answers = await atOnce(6, arena.pair(w.visitor), (caller, index) =>
      caller.post('/v1/auth/reset', { token, password: chosen(index) }, fromAnywhere()),
    )
    t.deepEqual(tally(answers), { 204: 1, 400: 5 })
    t.is((await signIn(w.visitor, email, chosen(answers.findIndex(({ status }) => status === 204)))).status, 200)
  }
})

test('sessions: a new person who accepts invitations of two workspaces at once gets one account', async (t) => {
  await arena.open()
  const w = arena.world()
  for (let round = 0; round < rounds / 4; round++) {
    const email = `new-${round}-${Date.now()}@example.com`
    const rings = [await arena.ring(), await arena.ring()]
    const tokens: string[] = []
    for (const { owner, path } of rings) {
      await made(owner.post(`${path}/members`, { email }))
      tokens.push(await mailedToken(w, email))
    }
    const answers = await atOnce(2, arena.pair(w.visitor), (caller, index) =>
      caller.post('/v1/auth/accept-invite', { token: tokens[index], name: 'Nell', password }, fromAnywhere()),
    )
    t.deepEqual(tally(answers), { 200: 2 })
    t.is(answers[0]?.data.user.id, answers[1]?.data.user.id)
    for (const { owner, path } of rings) t.is((await owner.get(`${path}/members`)).data.length, 2)
  }
})
