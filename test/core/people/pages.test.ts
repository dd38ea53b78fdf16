import test from 'ava'
import { createAccount, password, resetToken } from '#test/support/account.ts'
import { createOrg } from '#test/support/factories.ts'
import { mailedToken, mailsTo } from '#test/support/mailbox.ts'
import { setPlan, setWorkspaceStatus } from '#test/support/rows.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, { FREE_MEMBERS: '1' })

const post = (w: World, path: string, fields: Record<string, string>): Promise<Answer> =>
  w.visitor.post(path, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' })

async function invite(w: World, email: string): Promise<string> {
  t201(await w.org.owner.post(`${w.org.path}/members`, { email }))
  return mailedToken(w, email)
}
function t201({ status, text }: Answer): void {
  if (status !== 201) throw new Error(text)
}

test('pages: the link of an invitation is a page to join and sign in', async (t) => {
  const w = await start()
  await w.org.owner.patch(w.org.path, { name: 'Bäckerei & Söhne', color: '#ffcc00' })
  const token = await invite(w, 'ivy@example.com')
  const [address = ''] = /http\S+\/accept-invite\?token=\S+/.exec((await mailsTo(w, 'ivy@example.com')).at(-1)?.text ?? '') ?? []
  t.true(address.endsWith(token))
  const page = await w.visitor.get(address.replace(w.config.publicUrl, ''))
  t.is(page.status, 200)
  t.regex(page.text, /<h1><bdi>Join Bäckerei &amp; Söhne<\/bdi><\/h1>/)
  t.regex(page.text, /ivy@example\.com/)
  t.regex(page.text, /color\/ffcc00\.css/)
  const fields = { token, name: 'Ivy <b>', password: 'a long password' }
  const refused = await post(w, '/accept-invite', { ...fields, password: 'short' })
  t.is(refused.status, 400)
  t.regex(refused.text, /id="password-error">Choose a password must have at least 8 characters/)
  t.regex(refused.text, /value="Ivy &lt;b&gt;"/)
  t.notRegex(refused.text, /short/)
  t.regex((await post(w, '/accept-invite', { ...fields, name: 'I\0y' })).text, /body\.name holds a NUL character/)
  const joined = await post(w, '/accept-invite', fields)
  t.is(joined.status, 200)
  t.regex(joined.text, /You are in/)
  const session = await w.visitor.post('/v1/auth/sign-in', { email: 'ivy@example.com', password: 'a long password' })
  t.is(session.status, 200)
  t.deepEqual(
    (await w.visitor.as(session.data.token).get('/v1/auth/me')).data.orgs.map(({ id }: { id: string }) => id),
    [w.org.id],
  )
  for (const used of [await w.visitor.get(`/accept-invite?token=${token}`), await post(w, '/accept-invite', fields)]) {
    t.is(used.status, 404)
    t.regex(used.text, /has been used or taken back/)
  }
})

test('pages: a person with an account joins only with its password', async (t) => {
  const w = await start()
  const { email } = await createAccount(w)
  const token = await invite(w, email)
  const page = await w.visitor.get(`/accept-invite?token=${token}`)
  t.regex(page.text, /This address has an account/)
  t.notRegex(page.text, /name="name"/)
  const wrong = await post(w, '/accept-invite', { token, password: 'not the password' })
  t.is(wrong.status, 401)
  t.regex(wrong.text, /id="password-error">This is not your password/)
  t.is((await post(w, '/accept-invite', { token, password })).status, 200)
})

test('pages: the link of a password reset is a page that sets a new password', async (t) => {
  const w = await start()
  const { id, email } = await createAccount(w)
  const token = await resetToken(w, id)
  t.is((await w.visitor.get(`/reset?token=${token}`)).status, 200)
  const short = await post(w, '/reset', { token, password: 'short' })
  t.is(short.status, 400)
  t.regex(short.text, /aria-describedby="password-hint password-error" aria-invalid="true"/)
  t.is((await post(w, '/reset', { token, password: 'another password' })).status, 200)
  t.is((await w.visitor.post('/v1/auth/sign-in', { email, password: 'another password' })).status, 200)
  t.is((await post(w, '/reset', { token, password: 'a third password' })).status, 404)
  for (const path of ['/reset', '/reset?token=', '/reset?token=x', `/reset?token=${'x'.repeat(200)}`, '/accept-invite'])
    t.is((await w.visitor.get(path)).status, 404, path)
  t.is((await w.visitor.get(`/reset?token=${'x'.repeat(201)}`)).status, 400)
})

test('pages: the page shows the reason when a person cannot join', async (t) => {
  const w = await start()
  const free = await createOrg(w, 'Free', 'paid')
  const token = await invite({ ...w, org: free }, 'fred@example.com')
  await setPlan(w.db, free.id, 'free')
  const full = await post(w, '/accept-invite', { token, name: 'Fred', password: 'a long password' })
  t.is(full.status, 402)
  t.regex(full.text, /class="error"/)
  await setWorkspaceStatus(w.db, free.id, 'suspended')
  t.is((await post(w, '/accept-invite', { token, name: 'Fred', password: 'a long password' })).status, 403)
})

test('pages: no page runs inline code, sends a referrer to other sites or is stored', async (t) => {
  const w = await start()
  for (const path of ['/', '/reset?token=x', '/accept-invite?token=x']) {
    const page = await w.visitor.get(path)
    t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy') ?? ''
    t.regex(policy, /^default-src 'none'; style-src 'self';/)
    t.regex(policy, /frame-ancestors 'none'/)
    t.notRegex(policy, /unsafe|script/)
    t.is(page.headers.get('referrer-policy'), 'same-origin')
    t.is(page.headers.get('cache-control'), 'no-store')
    for (const [, file = ''] of page.text.matchAll(/<link [^>]*href="([^"]+)"/g)) t.is((await w.visitor.get(file)).status, 200, file)
  }
  t.regex((await w.visitor.get('/')).text, /<a class="button" href="docs">/)
  t.is((await w.visitor.send('HEAD', '/')).status, 200)
})

test('pages: a workspace’s colour is six digits or none', async (t) => {
  const w = await start()
  t.is((await w.org.owner.get(w.org.path)).data.color, null)
  t.is((await w.org.owner.patch(w.org.path, { color: '#A1b2C3' })).data.color, '#A1b2C3')
  t.is((await w.org.owner.patch(w.org.path, { name: 'Other' })).data.color, '#A1b2C3')
  for (const color of ['red', '#12345', '#1234567', '#12345g', 'a1b2c3', '', 5, '#123456\n'])
    t.is((await w.org.owner.patch(w.org.path, { color })).status, 400, String(color))
  t.is((await w.org.owner.patch(w.org.path, { color: null })).data.color, null)
})
