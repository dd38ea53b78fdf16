import test from 'ava'
import { createAccount, resetToken } from '#test/support/account.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { PUBLIC_URL: 'https://kontor.example' })
const urlencoded = 'application/x-www-form-urlencoded'

test('cross site: requests that another website made a browser send are refused and change nothing', async (t) => {
  const w = await start()
  const token = await resetToken(w, (await createAccount(w)).id)
  const body = new URLSearchParams({ token, password: 'another password' }).toString()
  const post = (headers: Record<string, string>) => w.visitor.post('/reset', body, { 'content-type': urlencoded, ...headers })
  const refused: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://kontor.example' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://kontor.example' },
    { 'sec-fetch-site': 'made-up' },
    { origin: 'https://example.com' },
    { origin: 'https://kontor.example.com' },
    { origin: 'http://kontor.example' },
    { origin: 'https://kontor.example:8443' },
    { origin: 'http://kontor.example', host: 'kontor.example' },
    { origin: 'null' },
    { origin: 'nonsense' },
  ]
  for (const headers of refused) {
    const answer = await post(headers)
    t.is(answer.status, 403, JSON.stringify(headers))
    t.regex(answer.text, /<code>FORBIDDEN<\/code>/)
    t.is(answer.headers.get('access-control-allow-origin'), null)
  }
  t.is((await w.visitor.get(`/reset?token=${token}`, { 'sec-fetch-site': 'cross-site', origin: 'null' })).status, 200)
  t.is((await post({ origin: 'https://kontor.example', 'content-type': 'text/plain' })).status, 400)
  t.is((await post({ 'sec-fetch-site': 'same-origin', origin: 'null' })).status, 200)
})

test('cross site: requests of programs pass, and so do those of the host’s own page', async (t) => {
  const w = await start()
  for (const headers of [{}, { origin: w.visitor.root }, { 'sec-fetch-site': 'none' }]) {
    const token = await resetToken(w, (await createAccount(w)).id)
    const body = new URLSearchParams({ token, password: 'another password' }).toString()
    t.is((await w.visitor.post('/reset', body, { 'content-type': urlencoded, ...headers })).status, 200, JSON.stringify(headers))
  }
})

test('cross site: browsers of other origins cannot read a page, and may call a public function', async (t) => {
  const w = await start()
  const asks = { origin: 'https://example.com', 'access-control-request-method': 'POST' }
  const closed = await w.visitor.send('OPTIONS', '/reset', undefined, asks)
  t.is(closed.headers.get('access-control-allow-origin'), null)
  const open = await w.visitor.send('OPTIONS', `/fn/${w.org.id}/x`, undefined, asks)
  t.is(open.status, 204)
  t.is(open.headers.get('access-control-allow-origin'), '*')
})
