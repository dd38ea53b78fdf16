import test from 'ava'
import { checkPassword, hashPassword } from '#shared/core/people/passwords.ts'
import { expireSessions, readPasswordHash, readSessions } from '#test/core/people/rows.ts'
import { createAccount, password, signIn } from '#test/support/account.ts'
import { createPerson, createService } from '#test/support/factories.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

/** Behind one proxy every request may have another address. */
const fresh = shareWorld(test, { TRUST_PROXY: '1' })

const from = (address: string) => ({ 'x-forwarded-for': address })

test('sign in: the right address and password start a session of 30 days', async (t) => {
  const w = await fresh()
  const { id, email } = await createAccount(w, 'Ann@Example.com')
  const { status, data } = await signIn(w.visitor, ' aNN@example.COM ')
  t.is(status, 200)
  t.deepEqual(data.user, { id, email, name: 'Ann Account' })
  t.regex(data.token, /^ks_[0-9A-Za-z]{71}$/)
  t.true(Math.abs(Date.parse(data.expires_at) - Date.now() - 30 * 86_400_000) < 60_000)
  t.deepEqual((await w.visitor.as(data.token).get('/v1/auth/me')).data, { id, type: 'user', name: 'Ann Account', email, orgs: [] })
  t.regex(await readPasswordHash(w.db, id), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  const stored = await readSessions(w.db, id)
  t.is(stored.length, 2)
  t.false(JSON.stringify(stored).includes(data.token.slice(25, 68)))
})

test('sign in: a wrong password and an unknown address get the same response', async (t) => {
  const w = await fresh()
  const { email } = await createAccount(w)
  const answers = await Promise.all([
    w.visitor.post('/v1/auth/sign-in', { email, password: `${password}!` }),
    signIn(w.visitor, email, ''),
    signIn(w.visitor, 'nobody@example.com'),
    signIn(w.visitor, 'no address at all'),
  ])
  for (const { status, body, headers } of answers) {
    t.is(status, 401)
    t.is(headers.get('www-authenticate'), 'Bearer')
    t.like(body.error, { code: 'UNAUTHORIZED', message: 'The address or the password is wrong' })
  }
  t.is((await w.visitor.post('/v1/auth/sign-in', { email })).status, 400)
})

test('sign in: a missing or unreadable hash never matches', async (t) => {
  const uncounted = { countCheck: async () => undefined, countSetting: async () => undefined }
  const matches = (given: string, stored: string | undefined) => checkPassword(uncounted, { email: '', password: given }, stored)
  t.true(await matches('paß', await hashPassword('paß')))
  t.true(await matches('caf\u00e9', await hashPassword('cafe\u0301')), 'the same password in another Unicode form')
  t.false(await matches('Pass', await hashPassword('pass')))
  for (const stored of [undefined, '', 'none', '$argon2id$v=19$m=19456,t=2,p=1$$', '$argon2i$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$AAAA']) {
    t.false(await matches('', stored))
  }
})

test('sign in: the eleventh try for one account within a minute is 429 from any address', async (t) => {
  const w = await fresh()
  const tries = []
  for (let number = 1; number <= 11; number++) {
    const email = number % 2 ? 'Victim@example.com' : 'victim@EXAMPLE.com '
    tries.push(await signIn(w.visitor, email, 'guess'))
  }
  t.deepEqual(
    tries.map(({ status }) => status),
    [...Array(10).fill(401), 429],
  )
  t.is(tries[0]?.headers.get('ratelimit-policy'), '"sign-in";q=10;w=60')
  t.is(tries[0]?.headers.get('ratelimit'), '"sign-in";r=9;t=60')
  const refused = tries[10]
  t.is(refused?.body.error.code, 'RATE_LIMITED')
  t.regex(refused?.headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d|60)$/)
  t.regex(refused?.headers.get('ratelimit') ?? '', /^"sign-in";r=0;t=\d+$/)
  const other = await signIn(w.visitor, 'other@example.com', 'guess')
  t.is(other.status, 401)
})

test('sign in: the eleventh try from one network address is 429 in all API processes together', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { email } = await createAccount(w)
  const statuses = []
  for (let number = 1; number <= 11; number++) {
    const client = number % 2 ? w.visitor : second
    const answer = await client.post('/v1/auth/sign-in', { email: `${number}@example.com`, password }, from('198.51.100.7, 203.0.113.9'))
    statuses.push(answer.status)
  }
  t.deepEqual(statuses, [...Array(10).fill(401), 429])
  t.is((await second.post('/v1/auth/sign-in', { email, password }, from('203.0.113.10'))).status, 200)
})

test('sign in: signing out ends only this session, at once and in every process', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { client, email } = await createAccount(w)
  const other = w.visitor.as((await signIn(w.visitor, email)).data.token)
  t.is((await second.as(client.token).get('/v1/auth/me')).status, 200)
  t.is((await client.post('/v1/auth/sign-out')).status, 204)
  t.is((await second.as(client.token).get('/v1/auth/me')).status, 401)
  t.is((await client.post('/v1/auth/sign-out')).status, 401)
  t.is((await other.get('/v1/auth/me')).status, 200)
})

test('sign in: every invalid credential gets 401 without information about others', async (t) => {
  const w = await fresh()
  const { client } = await createAccount(w)
  await client.post('/v1/auth/sign-out')
  const person = await createPerson(w, 'Late')
  await expireSessions(w.db, person.id)
  const token = client.token ?? ''
  const messageFor = async (credential: string | null | undefined) => {
    const { status, body } = await w.visitor.as(credential ?? null).get('/v1/auth/me')
    t.is(status, 401, String(credential))
    return body.error.message
  }
  t.is(await messageFor(null), 'Send a valid access key or session token as Authorization: Bearer')
  for (const credential of ['x', 'kt_', `${token.slice(0, -1)}~`, token, token.slice(0, 40), `kt_${token.slice(3)}`])
    t.is(await messageFor(credential), 'The access key or session token is unknown: it was mistyped, revoked or signed out')
  t.regex(await messageFor(person.client.token), /^The session expired at .*; sign in again$/)
})

test('sign in: a key sees its own account, and is refused where only a person is allowed', async (t) => {
  const w = await fresh()
  const { id, client } = await createService(w, w.org)
  t.deepEqual((await client.get('/v1/auth/me')).data, { id, type: 'service', name: 'Robot', orgs: [{ id: w.org.id, name: 'Acme' }] })
  const refusals = await Promise.all([
    client.post('/v1/auth/sign-out'),
    client.post('/v1/auth/password', { current: 'x', next: '12345678' }),
    client.get('/v1/orgs'),
    client.post('/v1/orgs', { name: 'Mine' }),
  ])
  for (const { status, body } of refusals) t.like({ status, code: body.error.code }, { status: 401, code: 'UNAUTHORIZED' })
})
