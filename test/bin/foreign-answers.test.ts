import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { kontor } from '../../bin/typed-client/runtime.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A client of a server that answers like this. */
async function clientOf(t: ExecutionContext, handler: Handler, org = 'o') {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return kontor({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'k', org })
}

const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const begun = (response: ServerResponse) => json(response, 202, { data: {} }, { location: '/v1/orgs/o/jobs/j' })
const list = '/v1/orgs/{orgId}/records/{typeKey}'
const start = { params: { path: { typeKey: 'sample' } } } as const

test('foreign answers: waiting goes on after misses, and never without a pause', async (t) => {
  const past = new Date(0).toUTCString()
  const misses: readonly (readonly [number, string?])[] = [[503, '0'], [502], [504, 'soon'], [429, past], [0]]
  let asked = 0
  const before = Date.now()
  const k = await clientOf(t, (request, response) => {
    if (!request.url?.includes('/jobs/')) return begun(response)
    const [status, after] = misses[asked++] ?? [200]
    if (status === 0) return request.socket.destroy()
    if (status !== 200) return json(response, status, {}, after === undefined ? {} : { 'retry-after': after })
    return json(response, 200, { data: { status: 'done', result: { created: 1 }, error: null } })
  })
  t.like(await k.GET(list, start), { data: { data: { created: 1 } } as object })
  t.is(asked, misses.length + 1)
  t.true(Date.now() - before > 7500, 'pauses of 1, 2, 2, 1 and 2 seconds')
})

test('foreign answers: waiting ends with what was met after 20 misses in a row', async (t) => {
  t.timeout(60_000)
  let asked = 0
  const k = await clientOf(t, (request, response) => {
    if (!request.url?.includes('/jobs/')) return begun(response)
    asked++
    return json(response, 503, { error: { code: 'INTERNAL', message: 'away' } }, { 'retry-after': '1' })
  })
  await t.throwsAsync(k.GET(list, start), { name: 'KontorError', message: 'away' })
  t.is(asked, 20)
})

test('foreign answers: a signal ends the pause', async (t) => {
  const stop = new AbortController()
  const k = await clientOf(t, (request, response) => {
    if (!request.url?.includes('/jobs/')) return begun(response)
    json(response, 503, {}, { 'retry-after': '60' })
    setTimeout(() => stop.abort(), 200)
  })
  const before = Date.now()
  await t.throwsAsync(k.GET(list, { ...start, signal: stop.signal }), { name: 'AbortError' })
  t.true(Date.now() - before < 10_000)
})

test('foreign answers: the page of a sign-in is no success', async (t) => {
  const k = await clientOf(t, (request, response) => {
    if (request.url === '/sign-in') response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in')
    else response.writeHead(302, { location: '/sign-in' }).end()
  })
  const redirected = {
    name: 'KontorError',
    code: 'UNREACHABLE',
    message: /redirected the call to .*\/sign-in; nothing is known to be written/,
  }
  await t.throwsAsync(k.records.update('sample', 'x', { name: 'a' }), redirected)
  await t.throwsAsync(k.records.delete('sample', 'x'), redirected)
  await t.throwsAsync(k.records.create('sample', { name: 'a' }), redirected)
  await t.throwsAsync(k.records.get('sample', 'x'), { name: 'KontorError', code: 'UNREACHABLE', message: /status 200 and text\/html/ })
  await t.throwsAsync(k.GET(list, { ...start, parseAs: 'text' }), { name: 'KontorError', code: 'UNREACHABLE' })
})

test('foreign answers: an answer that is not of the route is no success', async (t) => {
  const k = await clientOf(t, (_, response) => json(response, 200, { login: 'please' }))
  const foreign = { name: 'KontorError', code: 'UNREACHABLE', message: /is not what Kontor answers/ }
  await t.throwsAsync(k.records.update('sample', 'x', { name: 'a' }), foreign)
  await t.throwsAsync(k.records.delete('sample', 'x'), foreign)
  await t.throwsAsync(k.records.create('sample', { name: 'a' }), foreign)
  await t.throwsAsync(async () => k.records.list('sample'), foreign)
  await t.throwsAsync(k.GET(list, start), foreign)
})

test('foreign answers: a body that breaks off is a KontorError', async (t) => {
  const k = await clientOf(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"data":')
    setTimeout(() => response.destroy(), 50)
  })
  const broken = { name: 'KontorError', code: 'UNREACHABLE', message: /broke off/ }
  await t.throwsAsync(k.records.get('sample', 'x'), broken)
  await t.throwsAsync(k.GET(list, { ...start, parseAs: 'text' }), broken)
})

test('foreign answers: a part of a path that leads to another route is not sent', async (t) => {
  const urls: (string | undefined)[] = []
  const handler: Handler = (request, response) => {
    urls.push(request.url)
    json(response, 200, { data: {} })
  }
  const k = await clientOf(t, handler)
  for (const id of ['', '.', '..', '%2e', '%2E.', '.%2e']) {
    const refused = { name: 'KontorError', code: 'VALIDATION_ERROR', message: `recordId must be an id or a key, got "${id}"` }
    await t.throwsAsync(k.records.delete('sample', id), refused)
    await t.throwsAsync(k.records.get('sample', id), refused)
    await t.throwsAsync(k.GET(list, { params: { path: { typeKey: id } } }), { code: 'VALIDATION_ERROR', message: /^typeKey/ })
    const other = await clientOf(t, handler, id)
    await t.throwsAsync(other.GET(list, start), { code: 'VALIDATION_ERROR', message: /^orgId/ })
  }
  t.deepEqual(urls, [])
  await k.records.get('sample', '...')
  await k.records.get('sample', '../x')
  t.deepEqual(urls, ['/v1/orgs/o/records/sample/...', '/v1/orgs/o/records/sample/..%2Fx'])
})
