import test from 'ava'
import { findPersonByEmail, insertSession } from '#shared/core/people/store.ts'
import { changePasswordHash, deleteResets, expireResets, listRecipients, readResets } from '#test/core/people/rows.ts'
import { createAccount, fromAnywhere, password, signIn } from '#test/support/account.ts'
import { createPerson } from '#test/support/factories.ts'
import { mailedToken, mailsTo } from '#test/support/mailbox.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { whileWaiting } from '#test/support/waiting.ts'
import type { World } from '#test/support/world.ts'

/** Behind one proxy every request may have another address. */
const fresh = shareWorld(test, { TRUST_PROXY: '1', PUBLIC_URL: 'https://kontor.example' })

const forgot = ({ visitor }: World, email: string) => visitor.post('/v1/auth/forgot', { email }, fromAnywhere())

test('reset: a password is reset by a mailed token that works once, and every session ends', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { id, client, email } = await createAccount(w)
  t.is((await second.as(client.token).get('/v1/auth/me')).status, 200)
  t.is((await forgot(w, email.toUpperCase())).status, 204)
  const token = await mailedToken(w, email)
  const [mail] = await mailsTo(w, email)
  t.is(mail?.subject, 'Set a new password')
  t.true(mail?.text?.includes(`https://kontor.example/reset?token=${token}\n`))
  const stored = await readResets(w.db, id)
  t.is(stored.length, 1)
  t.false(JSON.stringify(stored).includes(token))
  t.false(String(stored[0]?.token_hash).includes(token))

  t.is((await w.visitor.post('/v1/auth/reset', { token, password: 'another one' })).status, 204)
  t.is((await client.get('/v1/auth/me')).status, 401)
  t.is((await second.as(client.token).get('/v1/auth/me')).status, 401)
  t.is((await signIn(w.visitor, email)).status, 401)
  t.is((await signIn(w.visitor, email, 'another one')).status, 200)
  const again = await w.visitor.post('/v1/auth/reset', { token, password: 'a third one' })
  t.like(again, { status: 400 })
  t.regex(again.body.error.message, /^token is not valid/)
})

test('reset: one of 20 resets by one token at once succeeds', async (t) => {
  const w = await fresh()
  const { email } = await createAccount(w)
  await forgot(w, email)
  const token = await mailedToken(w, email)
  const passwords = Array.from({ length: 20 }, (_, index) => `password ${index}`)
  const answers = await Promise.all(passwords.map((one) => w.visitor.post('/v1/auth/reset', { token, password: one })))
  const done = passwords.filter((_, index) => answers[index]?.status === 204)
  t.is(done.length, 1)
  t.is(answers.filter(({ status }) => status === 400 || status === 429).length, 19)
  t.is((await signIn(w.visitor, email, done[0])).status, 200)
})

test('reset: a token that another request is using is refused', async (t) => {
  const w = await fresh()
  const { email, id } = await createAccount(w)
  await forgot(w, email)
  const token = await mailedToken(w, email)
  const { status } = await whileWaiting(
    w,
    (other) => deleteResets(other, id),
    () => w.visitor.post('/v1/auth/reset', { token, password: 'another one' }),
  )
  t.is(status, 400)
  t.is((await signIn(w.visitor, email)).status, 200)
})

test('reset: a token is refused after an hour, and when it was never sent', async (t) => {
  const w = await fresh()
  const { id, email } = await createAccount(w)
  await forgot(w, email)
  const token = await mailedToken(w, email)
  const [reset] = await readResets(w.db, id)
  t.true(reset && reset.minutes > 50 && reset.minutes <= 60, `${reset?.minutes} minutes`)
  await expireResets(w.db, id)
  for (const bad of [token, `${token}x`, '', 'é', token.slice(1)]) {
    t.is((await w.visitor.post('/v1/auth/reset', { token: bad, password: 'another one' })).status, 400)
  }
  t.is((await signIn(w.visitor, email)).status, 200)
})

test('reset: a request for a reset always gets 204, and a known address gets at most five mails', async (t) => {
  const w = await fresh()
  const { email } = await createAccount(w)
  for (const one of ['nobody@example.com', 'no address', '', "'; drop table users; --", ...Array(7).fill(email)]) {
    const { status, text } = await forgot(w, one)
    t.deepEqual([status, text], [204, ''])
    await w.drain()
  }
  t.deepEqual(await listRecipients(w.db, [email, '', 'no address', 'nobody@example.com']), Array(5).fill(email))
  t.is((await w.visitor.post('/v1/auth/forgot', {}, fromAnywhere())).body.error.message, 'email is required')
})

test('reset: requests for resets are limited by network address', async (t) => {
  const w = await fresh()
  const asked = await Promise.all(Array.from({ length: 61 }, () => w.visitor.post('/v1/auth/forgot', { email: 'nobody@example.com' })))
  const refused = asked.filter(({ status }) => status === 429)
  t.is(refused.length, 1)
  t.is(refused[0]?.headers.get('ratelimit-policy'), '"forgot";q=60;w=60')
})

test('reset: a password is changed with the current one, and the other sessions end', async (t) => {
  const w = await fresh()
  const { client, email } = await createAccount(w)
  const other = w.visitor.as((await signIn(w.visitor, email)).data.token)
  await forgot(w, email)
  const token = await mailedToken(w, email)
  const wrong = await client.post('/v1/auth/password', { current: 'guess', next: 'another one' }, fromAnywhere())
  t.like(wrong, { status: 401 })
  t.is(wrong.body.error.message, 'current is not your password')
  t.is((await other.get('/v1/auth/me')).status, 200)
  t.is((await client.post('/v1/auth/password', { current: password, next: 'another one' }, fromAnywhere())).status, 204)
  t.is((await client.get('/v1/auth/me')).status, 200)
  t.is((await other.get('/v1/auth/me')).status, 401)
  t.is(
    (await w.visitor.post('/v1/auth/reset', { token, password: 'a third one' })).status,
    400,
    'a change of the password invalidates resets',
  )
  t.is((await signIn(w.visitor, email, 'another one')).status, 200)
})

test('reset: a password has 8 to 200 characters, and the error names the field', async (t) => {
  const w = await fresh()
  const { client } = await createAccount(w)
  const change = (current: unknown, next: unknown) => client.post('/v1/auth/password', { current, next }, fromAnywhere())
  t.is((await change(password, '1234567')).body.error.message, 'next must have at least 8 characters')
  t.is((await change(password, '😀'.repeat(7))).body.error.message, 'next must have at least 8 characters')
  t.is((await change(password, 'x'.repeat(201))).body.error.message, 'next must have at most 200 characters')
  t.is((await change(password, 12_345_678)).body.error.message, 'next must be a string')
  t.is((await change(undefined, '12345678')).body.error.message, 'current is required')
  t.is((await change(password, '😀'.repeat(200))).status, 204)
  t.is((await change('😀'.repeat(200), '12345678')).status, 204)
  const reset = await w.visitor.post('/v1/auth/reset', { token: 'x', password: 'short' })
  t.is(reset.body.error.message, 'password must have at least 8 characters')
})

test('reset: guesses of the current password count as tries to sign in', async (t) => {
  const w = await fresh()
  const { client, email } = await createAccount(w)
  const guesses = []
  const guess = { current: 'guess', next: '12345678' }
  for (let number = 1; number <= 10; number++) guesses.push(await client.post('/v1/auth/password', guess, fromAnywhere()))
  t.deepEqual(
    guesses.map(({ status }) => status),
    [...Array(9).fill(401), 429],
  )
  t.is((await signIn(w.visitor, email)).status, 429)
  const other = await createPerson(w, 'Other')
  t.is((await other.client.post('/v1/auth/password', guess, fromAnywhere())).status, 401)
})

test('reset: no session begins with a password that was changed after its check', async (t) => {
  const w = await fresh()
  const { email, id } = await createAccount(w)
  const db = w.api.services.database
  const person = await findPersonByEmail(db, email)
  if (!person) return t.fail()
  const session = { id: '01999999-9999-7999-8999-999999999999', person, tokenHash: Buffer.alloc(32), expiresAt: '2100-01-01T00:00:00Z' }
  const begun = await whileWaiting(
    w,
    (other) => changePasswordHash(other, id),
    () => insertSession(db, session),
  )
  t.false(begun)
})
