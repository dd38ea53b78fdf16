import { randomUUID } from 'node:crypto'
import test from 'ava'
import { hashPassword } from '#shared/core/people/passwords.ts'
import { createAccount, fromAnywhere, password, resetToken, signIn } from '#test/support/account.ts'
import { createOrg, createPerson } from '#test/support/factories.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { setPlan } from '#test/support/rows.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

/** Behind one proxy every request may have another address. */
const fresh = shareWorld(test, { TRUST_PROXY: '1', FREE_MEMBERS: '1' })
const restricted = shareWorld(test, { TRUST_PROXY: '1', SIGN_IN_LIMIT_PER_ACCOUNT: '2', SIGN_IN_LIMIT_PER_IP: '3' })

type Headers = Record<string, string>

async function invite(w: World, email: string): Promise<string> {
  await w.org.owner.post(`${w.org.path}/members`, { email })
  return mailedToken(w, email)
}

const accept = (w: World, token: string, given: string, headers: Headers): Promise<Answer> =>
  w.visitor.post('/v1/auth/accept-invite', { token, name: 'Ann', password: given }, headers)

const acceptByPage = (w: World, token: string, given: string, headers: Headers): Promise<Answer> =>
  w.visitor.post('/accept-invite', new URLSearchParams({ token, name: 'Ann', password: given }).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    ...headers,
  })

/** Makes calls one after the other and returns their statuses. */
async function statusesOf(calls: readonly (() => Promise<Answer>)[]): Promise<number[]> {
  const statuses: number[] = []
  for (const call of calls) statuses.push((await call()).status)
  return statuses
}

test('password quota: guesses by invitation, by its page, by sign-in and by password change count for one account', async (t) => {
  const w = await fresh()
  const { email, client } = await createAccount(w)
  const token = await invite(w, email)
  const guesses = [
    () => signIn(w.visitor, email.toUpperCase(), 'guess'),
    () => accept(w, token, 'a wrong guess', fromAnywhere()),
    () => acceptByPage(w, token, 'a wrong guess', fromAnywhere()),
    () => client.post('/v1/auth/password', { current: 'guess', next: 'a new password' }, fromAnywhere()),
  ]
  // Creating the account has signed in once.
  t.deepEqual(await statusesOf(Array.from({ length: 9 }, (_, index) => guesses[index % 4] ?? guesses[0]!)), Array(9).fill(401))
  t.deepEqual(await statusesOf(guesses), [429, 429, 429, 429])
  const refused = await accept(w, token, password, fromAnywhere())
  t.regex(refused.headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d|60)$/)
  t.is(refused.headers.get('ratelimit-policy'), '"sign-in";q=10;w=60')
})

test('password quota: guesses by invitation count for their network address', async (t) => {
  const w = await fresh()
  const from = fromAnywhere()
  const { email } = await createAccount(w)
  const token = await invite(w, email)
  const elsewhere = () => w.visitor.post('/v1/auth/sign-in', { email: `${randomUUID()}@example.com`, password }, from)
  t.deepEqual(await statusesOf(Array.from({ length: 10 }, () => elsewhere)), Array(10).fill(401))
  t.is((await accept(w, token, password, from)).status, 429)
  t.is((await acceptByPage(w, token, password, from)).status, 429)
  t.is((await accept(w, token, password, fromAnywhere())).status, 200, 'a refused client does not use up the quota of the account')
})

test('password quota: a first password counts by its token', async (t) => {
  const w = await fresh()
  const org = await createOrg(w, 'Full')
  const inside = { ...w, org }
  const [token, other] = [await invite(inside, `${randomUUID()}@example.com`), await invite(inside, `${randomUUID()}@example.com`)]
  await setPlan(w.db, org.id, 'free')
  const from = fromAnywhere()
  const calls = Array.from({ length: 12 }, (_, index) => () => (index % 2 ? accept : acceptByPage)(w, token, 'a long password', from))
  t.deepEqual(await statusesOf(calls), [...Array(10).fill(402), 429, 429])
  t.is((await accept(w, other, 'a long password', from)).status, 402, 'other people behind the same address can still join')
})

test('password quota: a reset counts by its token', async (t) => {
  const w = await fresh()
  const person = await createPerson(w, 'Rita')
  const token = await resetToken(w, person.id)
  const resets = Array.from({ length: 20 }, (_, index) =>
    w.visitor.post('/v1/auth/reset', { token, password: `password ${index}` }, fromAnywhere()),
  )
  const statuses = (await Promise.all(resets)).map(({ status }) => status)
  t.is(statuses.filter((status) => status === 204).length, 1)
  // Ten get to the hash; a call that comes after the token was used is refused before.
  t.true(statuses.filter((status) => status === 204 || status === 400).length >= 10)
  t.true(statuses.every((status) => [204, 400, 429].includes(status)))
})

test('password quota: the operator sets the limits', async (t) => {
  const w = await restricted()
  const email = `${randomUUID()}@example.com`
  t.deepEqual(await statusesOf(Array.from({ length: 3 }, () => () => signIn(w.visitor, email, 'guess'))), [401, 401, 429])
  const from = fromAnywhere()
  const calls = Array.from(
    { length: 4 },
    () => () => w.visitor.post('/v1/auth/sign-in', { email: `${randomUUID()}@x.example`, password }, from),
  )
  t.deepEqual(await statusesOf(calls), [401, 401, 401, 429])
})

test('password quota: with the queue of hashes full, every use of a password is OVERLOADED at once', async (t) => {
  const w = await fresh()
  const { email, client } = await createAccount(w)
  const token = await invite(w, email)
  const first = await invite(w, `${randomUUID()}@example.com`)
  const reset = await resetToken(w, (await createPerson(w, 'Rita')).id)
  let isFull = true
  // Two are computed and 64 wait; each that ends, or has waited too long, begins again.
  const callers = Array.from({ length: 66 }, async () => {
    while (isFull) await hashPassword('x').catch(() => undefined)
  })
  const answers = await Promise.all([
    w.visitor.withoutRetries().post('/v1/auth/sign-in', { email, password }, fromAnywhere()),
    w.visitor.withoutRetries().post('/v1/auth/sign-in', { email: 'nobody@example.com', password }, fromAnywhere()),
    client.withoutRetries().post('/v1/auth/password', { current: password, next: 'a new password' }, fromAnywhere()),
    accept({ ...w, visitor: w.visitor.withoutRetries() }, token, password, fromAnywhere()),
    acceptByPage({ ...w, visitor: w.visitor.withoutRetries() }, token, password, fromAnywhere()),
    accept({ ...w, visitor: w.visitor.withoutRetries() }, first, 'a long password', fromAnywhere()),
    w.visitor.withoutRetries().post('/v1/auth/reset', { token: reset, password: 'a long password' }, fromAnywhere()),
  ])
  isFull = false
  await Promise.all(callers)
  for (const { status, headers } of answers) t.deepEqual([status, headers.get('retry-after')], [503, '1'])
  t.is((await signIn(w.visitor, email)).status, 200)
})

test('password quota: spellings of an address that the database reads as one count as one', async (t) => {
  const w = await restricted()
  const guess = (email: string) => () => w.visitor.post('/v1/auth/sign-in', { email, password: 'a wrong guess' }, fromAnywhere())
  const spellings = ['iris.sigma@ex.example', '\u0130ris.sigma@ex.example', 'IR\u0130S.sigma@ex.example']
  t.deepEqual(await statusesOf(spellings.map(guess)), [401, 401, 429])
})
