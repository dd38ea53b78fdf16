import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw, Wire } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const records = (w: World) => `${w.org.path}/records/locations`
const bearer = (w: World) => `Authorization: Bearer ${w.org.owner.token}`

test('headers: a well-formed request id is echoed, and any other replaced', async (t) => {
  const w = await fresh()
  const echo = async (...lines: string[]) =>
    (await sendRaw(w.api.port, `GET ${records(w)} HTTP/1.1`, [bearer(w), ...lines])).headers.get('x-request-id')
  for (const id of ['a', 'A-b_c.9', 'x'.repeat(64), '..', '0']) t.is(await echo(`X-Request-ID: ${id}`), id)
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7/
  for (const id of ['x'.repeat(65), 'a b', 'a,b', 'é', '<script>', '%0d%0a', 'a\tb', ''])
    t.regex((await echo(`X-Request-ID: ${id}`)) ?? '', uuid, id)
  t.regex((await echo('X-Request-ID: a', 'X-Request-ID: b')) ?? '', uuid)
})

test('headers: every response has a request id, also the response to an invalid request', async (t) => {
  const w = await fresh()
  const requests = [
    'GET / HTTP/1.1',
    'GET /healthz HTTP/1.1',
    'FROB / HTTP/1.1',
    'nonsense',
    'GET /a b HTTP/1.1',
    'GET / HTTP/9.9',
    `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`,
  ]
  for (const line of requests) {
    const answer = await sendRaw(w.api.port, line)
    t.regex(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, line)
    if (answer.status >= 400) t.is(answer.body.error.request_id, answer.headers.get('x-request-id'))
  }
  const noHost = await sendRaw(w.api.port, `GET ${records(w)} HTTP/1.1`, [])
  t.is(noHost.status, 401)
})

test('headers: a header with line breaks never gets into a response', async (t) => {
  const w = await fresh()
  const answer = await sendRaw(w.api.port, `GET ${records(w)} HTTP/1.1`, [
    bearer(w),
    'X-Request-ID: a\rSet-Cookie: b=c',
    'Origin: x\nEvil: y',
  ])
  t.is(answer.status, 400)
  t.is(answer.headers.get('set-cookie'), null)
  t.is(answer.headers.get('evil'), null)
})

test('headers: odd credentials are no credentials', async (t) => {
  const w = await fresh()
  const token = w.org.owner.token ?? ''
  const refused = [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    `Bearer ${token} x`,
    `Bearer ${token}x`,
    'Bearer \xe9',
    `Bearer ${'x'.repeat(10_000)}`,
    `Bearer ${token.slice(0, -1)}`,
  ]
  for (const value of refused) {
    const answer = await sendRaw(w.api.port, `GET ${records(w)} HTTP/1.1`, [`Authorization: ${value}`])
    t.is(answer.status, 401, value)
    t.is(answer.headers.get('www-authenticate'), 'Bearer')
  }
  t.is((await sendRaw(w.api.port, `GET ${records(w)} HTTP/1.1`, [`authorization: bearer   ${token}`])).status, 200)
})

test('headers: an unknown expectation is ignored, and 100-continue is answered', async (t) => {
  const w = await fresh()
  const post = [bearer(w), 'Content-Type: application/json', 'Content-Length: 2']
  t.is((await sendRaw(w.api.port, `POST ${w.org.path}/records/invoices HTTP/1.1`, [...post, 'Expect: the-unexpected'], '{}')).status, 201)
  t.is((await sendRaw(w.api.port, `POST ${w.org.path}/records/invoices HTTP/1.1`, [...post, 'Expect: 100-continue'], '{}')).status, 201)
})

test('headers: browsers of any origin may call the authenticated routes without cookies', async (t) => {
  const w = await fresh()
  const origin = { origin: 'https://example.com' }
  const preflight = await w.visitor.send('OPTIONS', records(w), undefined, {
    ...origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, content-type, idempotency-key',
  })
  t.is(preflight.status, 204)
  t.is(preflight.headers.get('access-control-allow-origin'), '*')
  t.is(preflight.headers.get('access-control-allow-headers'), 'authorization, content-type, idempotency-key')
  t.regex(preflight.headers.get('access-control-allow-methods') ?? '', /PATCH/)
  t.is(preflight.headers.get('access-control-allow-credentials'), null)
  for (const answer of [
    await w.org.owner.get(records(w), origin),
    await w.visitor.get(records(w), origin),
    await w.org.owner.get('/v1/no', origin),
  ]) {
    t.is(answer.headers.get('access-control-allow-origin'), '*')
    t.regex(answer.headers.get('access-control-expose-headers') ?? '', /X-Request-ID/)
    t.is(answer.headers.get('access-control-allow-credentials'), null)
  }
  t.is((await w.org.owner.get(records(w))).headers.get('access-control-allow-origin'), null)
})

test('headers: a request for another protocol is answered, and its connection closes', async (t) => {
  const w = await fresh()
  const asks = ['Host: localhost', bearer(w), 'Connection: Upgrade', 'Upgrade: websocket'].join('\r\n')
  const answer = await new Wire(w.api.port).send(`GET ${records(w)} HTTP/1.1\r\n${asks}\r\n\r\n`).answer()
  t.is(answer.status, 200)
  t.is(answer.headers.get('connection'), 'close')
})
