import test from 'ava'
import { deletePerson, dropOperator, followLog, putWorkspace, readStatus } from '#test/core/operators/rows.ts'
import { changePasswordHash } from '#test/core/people/rows.ts'
import { createAccount, fromAnywhere, password, signIn } from '#test/support/account.ts'
import { createOrg, createPerson } from '#test/support/factories.ts'
import { createOperator, makeOperator, openPage, pressButton, sendFields, signInForm, visitConsole } from '#test/support/operators.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test, { TRUST_PROXY: '1' })
const secure = shareWorld(test, { TRUST_PROXY: '1', PUBLIC_URL: 'https://kontor.example/base' })

/** Sends the form to sign in, from its own network address. */
function enter(w: World, email: string, given = password, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { origin, formToken } = signInForm(w)
  return sendFields(w, '/operator/sign-in', { email, password: given, form_token: formToken }, { origin, ...fromAnywhere(), ...headers })
}

/** The pair of name and token that an answer sets as a cookie. */
const cookieOf = ({ headers }: Answer): string => /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? ''

async function operatorAccount(w: World, readOnly = false) {
  const account = await createAccount(w)
  await makeOperator(w, account.id, readOnly)
  return account
}

test('console: the form opens a session of twelve hours, by a cookie for the pages only', async (t) => {
  const w = await fresh()
  const { email } = await operatorAccount(w)
  const answer = await enter(w, email.toUpperCase())
  t.deepEqual([answer.status, answer.headers.get('location')], [303, '/operator'])
  t.regex(
    answer.headers.get('set-cookie') ?? '',
    /^kontor_operator=[0-9A-Za-z]{43}; Path=\/operator; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  const cookie = cookieOf(answer)
  const first = await w.visitor.get('/operator', { cookie, ...fromAnywhere() })
  t.is(first.status, 200)
  for (const path of ['workspaces', 'operators', 'log']) {
    t.true(first.text.includes(`href="/operator/${path}"`), path)
    t.is((await w.visitor.get(`/operator/${path}`, { cookie })).status, 200)
  }
  t.is((await w.visitor.get('/v1/operator/log', { cookie })).status, 401)
  t.is((await w.visitor.get('/v1/auth/me', { cookie })).status, 401)
  t.is((await w.visitor.as(cookie.replace('kontor_operator=', '')).get('/v1/operator/log')).status, 401)
})

test('console: with https the cookie is for this host alone, and addresses carry the path of the public URL', async (t) => {
  const w = await secure()
  const { email } = await operatorAccount(w)
  const answer = await enter(w, email)
  t.deepEqual([answer.status, answer.headers.get('location')], [303, '/base/operator'])
  t.regex(
    answer.headers.get('set-cookie') ?? '',
    /^__Host-kontor_operator=[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
  )
  const { status, text } = await w.visitor.get('/operator', { cookie: cookieOf(answer), ...fromAnywhere() })
  t.is(status, 200)
  t.regex(text, /href="\/base\/operator\/log"/)
  t.is((await openPage(w, { headers: { cookie: cookieOf(answer).replace('__Host-', ''), origin: '' } })).status, 401)
})

test('console: whoever has no session sees the form, and a wrong pair and an unknown address get the same answer', async (t) => {
  const w = await fresh()
  const { email } = await operatorAccount(w)
  const form = await w.visitor.get('/operator', fromAnywhere())
  t.is(form.status, 200)
  t.regex(form.text, /name="password"/)
  t.notRegex(form.text, /workspaces|Sign out/)
  const [wrong, unknown] = [await enter(w, email, 'guess'), await enter(w, 'nobody@example.com', 'guess')]
  t.deepEqual([wrong.status, unknown.status, wrong.headers.get('set-cookie')], [401, 401, null])
  const plain = ({ text }: Answer, address: string) => text.replaceAll(address, '')
  t.is(plain(wrong, email), plain(unknown, 'nobody@example.com'))
  t.regex(wrong.text, /The address or the password is wrong/)
  const other = await enter(w, (await createAccount(w)).email)
  t.deepEqual([other.status, other.headers.get('set-cookie')], [403, null])
  t.regex(other.text, /This account is no operator of this installation/)
  const page = await w.visitor.get('/operator/workspaces')
  t.is(page.status, 401)
  t.regex(page.text, /<a class="button" href="\/operator">Sign in<\/a>/)
})

test('console: attempts at the form and at /auth/sign-in count together for an account', async (t) => {
  const w = await fresh()
  const { email } = await operatorAccount(w)
  const statuses = []
  // Creating the account has signed in once.
  for (let count = 0; count < 10; count++)
    statuses.push((await (count % 2 ? enter(w, email, 'guess') : signIn(w.visitor, email, 'guess'))).status)
  t.deepEqual(statuses, [...Array(9).fill(401), 429])
  t.is((await enter(w, email)).status, 429)
})

test('console: a form is taken from a page of this server only', async (t) => {
  const w = await fresh()
  const { email } = await operatorAccount(w)
  const { origin, formToken } = signInForm(w)
  const fields = { email, password, form_token: formToken }
  for (const headers of [
    {},
    { origin: 'https://other.example' },
    { origin: 'null' },
    { origin, 'sec-fetch-site': 'cross-site' },
    { origin, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]) {
    const { status, headers: answered } = await sendFields(w, '/operator/sign-in', fields, { ...fromAnywhere(), ...headers } as Record<
      string,
      string
    >)
    t.deepEqual([status, answered.get('set-cookie')], [403, null], JSON.stringify(headers))
  }
  const visit = await visitConsole(w, (await createOperator(w)).id)
  for (const form_token of ['', 'x', visit.formToken, `${formToken}x`])
    t.is((await sendFields(w, '/operator/sign-in', { ...fields, form_token }, { origin, ...fromAnywhere() })).status, 403)
  t.is((await enter(w, email, password, { 'sec-fetch-site': 'same-origin' })).status, 303)
})

test('console: signing out ends the session, needs its form token, and is open to read-only operators', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w, true)).id)
  t.is((await sendFields(w, '/operator/sign-out', { form_token: 'x' }, visit.headers)).status, 403)
  t.is((await openPage(w, visit)).status, 200)
  const out = await pressButton(w, visit, '/operator/sign-out')
  t.is(out.status, 303)
  t.is(out.headers.get('set-cookie'), 'kontor_operator=; Path=/operator; Max-Age=0; HttpOnly; SameSite=Strict')
  t.is((await openPage(w, visit)).status, 401)
})

test('console: a session ends after its time, with the operator, and with the password', async (t) => {
  const w = await fresh()
  const statusOf = async (id: string, end: () => Promise<unknown>, seconds?: number) => {
    const visit = await visitConsole(w, id, seconds)
    const before = (await openPage(w, visit)).status
    await end()
    return [before, (await openPage(w, visit)).status]
  }
  const ids = []
  for (let count = 0; count < 4; count++) ids.push((await createOperator(w)).id)
  const [late = '', removed = '', changed = '', gone = ''] = ids
  t.deepEqual(await statusOf(late, async () => undefined, 0), [401, 401])
  t.deepEqual(await statusOf(removed, () => dropOperator(w.db, removed)), [200, 401])
  t.deepEqual(await statusOf(changed, () => changePasswordHash(w.db, changed)), [200, 401])
  t.deepEqual(await statusOf(gone, () => deletePerson(w.db, gone)), [200, 401])
})

test('console: a session is known to every process, and signing in again ends the one before', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { email } = await operatorAccount(w)
  const one = cookieOf(await enter(w, email))
  t.is((await second.get('/operator/log', { cookie: one })).status, 200)
  const other = cookieOf(await enter(w, email, password, { cookie: one }))
  t.is((await second.get('/operator/log', { cookie: other })).status, 200)
  t.is((await second.get('/operator/log', { cookie: one })).status, 401)
})

test('console: its pages are stored nowhere, are in no frame and run no script but that of the stream', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w)).id)
  const paths = ['', '/log', '/workspaces', `/workspaces/${w.org.id}`, '/operators', '/jobs', '/jobs/act?action=cancel', '/mails']
  for (const path of paths.map((one) => `/operator${one}`)) {
    const { headers } = await w.visitor.get(path, { cookie: visit.headers.cookie, ...fromAnywhere() })
    t.is(headers.get('cache-control'), 'no-store', path)
    const policy = headers.get('content-security-policy') ?? ''
    t.regex(policy, /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/, path)
    t.notRegex(policy, /script-src/, path)
    t.is(headers.get('access-control-allow-origin'), null)
  }
  // Its script follows the stream of this server, and no other script runs.
  const { headers, text } = await w.visitor.get('/operator/overview', { cookie: visit.headers.cookie, ...fromAnywhere() })
  const [, nonce] = /script-src 'nonce-([^']+)'; connect-src 'self'/.exec(headers.get('content-security-policy') ?? '') ?? []
  t.regex(text, new RegExp(`<script src="[^"]*/live\\.js" nonce="${nonce}" defer></script>`))
})

test('console: buttons suspend, resume and change the plan, and each press is an entry of the log', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const visit = await visitConsole(w, (await createOperator(w)).id)
  const at = `/operator/workspaces/${w.org.id}`
  const buttons = async () =>
    [...(await openPage(w, visit, at)).text.matchAll(/<button type="submit" class="plain">([^<]+)</g)].map(([, label]) => label)
  t.deepEqual(await buttons(), ['Suspend', 'Change the plan to free', 'Sign out'])
  const pressed = await pressButton(w, visit, `${at}/suspend`)
  t.deepEqual([pressed.status, pressed.headers.get('location')], [303, at])
  t.deepEqual(await buttons(), ['Resume', 'Change the plan to free', 'Sign out'])
  const again = await pressButton(w, visit, `${at}/suspend`)
  t.is(again.status, 400)
  t.regex(again.text, /role="alert">The workspace Acme is suspended already</)
  t.is((await pressButton(w, visit, `${at}/resume`)).status, 303)
  t.is((await pressButton(w, visit, `${at}/plan`, { plan: 'free' })).status, 303)
  t.deepEqual(await buttons(), ['Suspend', 'Change the plan to paid', 'Sign out'])
  t.deepEqual(
    (await readLog()).map(({ action }) => action),
    ['workspaces.suspend', 'workspaces.resume', 'workspaces.plan'],
  )
  const wrong = await pressButton(w, visit, `${at}/plan`, { plan: 'gold' })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /role="alert">plan must be one of free, paid</)
})

test('console: an action that does not fit the state is refused on the page of the workspace', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w)).id)
  await putWorkspace(w.db, w.org.id, 'deleting')
  const page = await openPage(w, visit, `/operator/workspaces/${w.org.id}`)
  t.regex(page.text, /<dd>deleting<\/dd>/)
  t.notRegex(page.text, />(Suspend|Resume)</)
  const { status, text } = await pressButton(w, visit, `/operator/workspaces/${w.org.id}/resume`)
  t.is(status, 400)
  t.regex(text, /role="alert">The workspace Acme is being deleted</)
  t.is(await readStatus(w.db, w.org.id), 'suspended')
  await putWorkspace(w.db, w.org.id, 'active')
})

test('console: a read-only operator sees no buttons', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w, true)).id)
  const { text } = await openPage(w, visit, `/operator/workspaces/${w.org.id}`)
  t.regex(text, /You are a read-only operator/)
  t.deepEqual([...text.matchAll(/<form /g)].length, 1, 'the one to sign out')
})

test('console: workspaces are found by a part of the name or the id, and shown by pages', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w)).id)
  const owner = await createPerson(w, 'Olive Owner')
  const ids = []
  for (let count = 0; count < 3; count++) ids.push((await createOrg(w, `<i>Ährenkranz</i> & Söhne ${count}`, 'paid', owner)).id)
  const search = async (query: object) => {
    const { text } = await openPage(w, visit, `/operator/workspaces?${new URLSearchParams({ ...query })}`)
    const more = /href="([^"]+)">More workspaces/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    return { found: [...text.matchAll(/workspaces\/([\w-]{36})"/g)].map(([, id]) => id), more, text }
  }
  const all = await search({ q: 'äHRENKRANZ' })
  t.deepEqual(all.found, ids.toSorted().reverse())
  t.regex(all.text, /<bdi>&lt;i&gt;Ährenkranz&lt;\/i&gt; &amp; Söhne 0<\/bdi>/)
  t.is(all.more, undefined)
  const paged = await search({ q: 'ährenkranz', limit: '2' })
  t.deepEqual(paged.found, all.found.slice(0, 2))
  const rest = await openPage(w, visit, paged.more ?? '')
  t.deepEqual(
    [...rest.text.matchAll(/workspaces\/([\w-]{36})"/g)].map(([, id]) => id),
    all.found.slice(2),
  )
  const every = await search({ q: '', limit: '1' })
  t.is((await openPage(w, visit, every.more ?? '')).status, 200, 'the form sends an empty text')
  t.deepEqual((await search({ q: ids[0]?.toUpperCase() })).found, [ids[0]])
  t.regex((await search({ q: '100%_' })).text, /No workspace is found/)
  t.is((await openPage(w, visit, (paged.more ?? '').replace('q=%C3%A4', 'q=a'))).status, 400)
})

test('console: the log is shown by pages, and what its entries hold as text', async (t) => {
  const w = await fresh()
  const visit = await visitConsole(w, (await createOperator(w)).id)
  await w.org.owner.patch(w.org.path, { name: '<b>Acme</b>' })
  for (const action of ['suspend', 'resume']) await pressButton(w, visit, `/operator/workspaces/${w.org.id}/${action}`)
  const first = await openPage(w, visit, '/operator/log?limit=1')
  t.regex(first.text, /workspaces\.resume.*name: <bdi>&lt;b&gt;Acme&lt;\/b&gt;<\/bdi>/)
  t.notRegex(first.text, /workspaces\.suspend/)
  const older = /href="([^"]+)">Older entries/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const { status, text } = await openPage(w, visit, older)
  t.is(status, 200)
  t.deepEqual(
    text
      .split('<tr>')
      .filter((row) => row.includes(w.org.id))
      .map((row) => /workspaces\.\w+/.exec(row)?.[0]),
    ['workspaces.suspend'],
  )
  t.is((await openPage(w, visit, `${older}x`)).status, 400)
})
