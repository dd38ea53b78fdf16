import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { restrictedDialer } from '#shared/platform/egress/dialer.ts'
import type { EgressFailure } from '#shared/platform/egress/failure.ts'
import { callHttp, type HttpCall } from '#shared/platform/egress/http.ts'
import { internet } from '#shared/platform/egress/network.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server on loopback that the operator allows; calls to other ports of loopback are refused. */
async function opened(t: ExecutionContext, handler: Handler) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  let connections = 0
  server.on('connection', () => (connections += 1))
  const door = restrictedDialer({ egressAllow: [`127.0.0.1:${port}`] })
  const call = (more: Partial<HttpCall> = {}) =>
    callHttp(door, { url: `http://127.0.0.1:${port}/x?y=1`, method: 'GET', timeoutMs: 5_000, maxBytes: 1_000, ...more })
  const reasonOf = async (more: Partial<HttpCall> = {}) => ((await t.throwsAsync(call(more))) as EgressFailure).reason
  return { call, reasonOf, port, connections: () => connections }
}

test('http: a call arrives as it was made, and its response is returned', async (t) => {
  const { call, port } = await opened(t, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const seen = { method: request.method, url: request.url, host: request.headers.host, own: request.headers['x-own'] }
      response.writeHead(201, { 'X-Answer': 'yes' }).end(JSON.stringify({ ...seen, body: Buffer.concat(parts).toString() }))
    })
  })
  const { status, headers, body } = await call({ method: 'PUT', headers: { 'X-Own': 'mine' }, body: 'Grüße' })
  t.is(status, 201)
  t.is(headers['x-answer'], 'yes')
  t.deepEqual(JSON.parse(body.toString()), { method: 'PUT', url: '/x?y=1', host: `127.0.0.1:${port}`, own: 'mine', body: 'Grüße' })
})

for (const status of [301, 302, 303, 307, 308])
  test(`http: a redirect with ${status} is the response and is not followed`, async (t) => {
    const { call, connections } = await opened(t, (_, response) =>
      response.writeHead(status, { Location: 'http://169.254.169.254/latest' }).end(),
    )
    const answer = await call()
    t.is(answer.status, status)
    t.is(answer.headers.location, 'http://169.254.169.254/latest')
    t.is(connections(), 1)
  })

test('http: a body of the maximum size passes, and one byte more is refused', async (t) => {
  const { call, reasonOf } = await opened(t, (request, response) => response.end(Buffer.alloc(request.method === 'GET' ? 1_000 : 1_001)))
  t.is((await call()).body.length, 1_000)
  t.is(await reasonOf({ method: 'POST' }), 'too_large')
})

test('http: a body is counted again after decompression', async (t) => {
  const packed: Record<string, Buffer> = {
    gzip: gzipSync(Buffer.alloc(5_000_000)),
    br: brotliCompressSync(Buffer.alloc(5_000_000)),
    'gzip, gzip': gzipSync(gzipSync(Buffer.alloc(1_000, 'a'))),
  }
  const { call, reasonOf } = await opened(t, (request, response) => {
    const coding = String(request.headers['x-coding'])
    response.writeHead(200, { 'Content-Encoding': coding }).end(packed[coding])
  })
  const headers = (coding: string) => ({ headers: { 'X-Coding': coding }, maxBytes: 10_000 })
  t.is(await reasonOf(headers('gzip')), 'too_large')
  t.is(await reasonOf(headers('br')), 'too_large')
  t.is((await call(headers('gzip, gzip'))).body.toString(), 'a'.repeat(1_000))
})

test('http: a response to HEAD that names an encoding is empty', async (t) => {
  const { call } = await opened(t, (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end())
  t.is((await call({ method: 'HEAD' })).body.length, 0)
})

for (const [what, handler] of [
  ['never answers', () => undefined],
  [
    'sends its body drop by drop',
    (_: IncomingMessage, response: ServerResponse) => void setInterval(() => response.write('.'), 20).unref(),
  ],
  [
    'sends headers and stops',
    (_: IncomingMessage, response: ServerResponse) => void response.writeHead(200, { 'Content-Length': 9 }).flushHeaders(),
  ],
  [
    'says 103 for ever',
    (_: IncomingMessage, response: ServerResponse) =>
      void setInterval(() => response.writeEarlyHints({ link: '</>;rel=preload' }), 20).unref(),
  ],
] as const)
  test(`http: a server that ${what} runs into the timeout`, async (t) => {
    const { reasonOf } = await opened(t, handler)
    t.is(await reasonOf({ timeoutMs: 200 }), 'timeout')
  })

test('http: the timeout includes the resolution of a name', async (t) => {
  const door = restrictedDialer({ egressAllow: [] }, { ...internet, resolve: () => new Promise(() => undefined) })
  const error = await t.throwsAsync(callHttp(door, { url: 'http://slow.example/', method: 'GET', timeoutMs: 100, maxBytes: 10 }))
  t.is((error as EgressFailure).reason, 'timeout')
})

test('http: a caller that aborts ends the call with its own reason', async (t) => {
  const { call } = await opened(t, () => undefined)
  const giving = new AbortController()
  const calling = call({ signal: giving.signal })
  giving.abort(new Error('cancelled'))
  t.is((await t.throwsAsync(calling))?.message, 'cancelled')
})

test('http: a call over a connection that breaks is unreachable, also within a body', async (t) => {
  const { reasonOf } = await opened(t, (request, response) => {
    if (request.method === 'GET') return request.socket.destroy()
    response.writeHead(200, { 'Content-Length': 100 }).write('half')
    setImmediate(() => request.socket.destroy())
  })
  t.is(await reasonOf(), 'unreachable')
  t.is(await reasonOf({ method: 'POST' }), 'unreachable')
})

for (const [what, more] of [
  ['a Host of the caller', { headers: { HOST: '169.254.169.254' } }],
  ['a length of the caller', { headers: { 'content-length': '1' } }],
  ['a line break in a header', { headers: { 'X-A': 'a\r\nHost: b' } }],
  ['a line break in a name', { headers: { 'X-A\r\nB': 'a' } }],
  ['a method that is none', { method: 'GET / HTTP/1.1\r\nX: ' }],
  ['a name and password', { url: 'http://a:b@127.0.0.1/' }],
] as const)
  test(`http: ${what} is refused before a connection is opened`, async (t) => {
    const { reasonOf, connections } = await opened(t, (_, response) => response.end())
    t.is(await reasonOf(more), 'refused')
    t.is(connections(), 0)
  })
