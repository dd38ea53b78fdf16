import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { countBusySessions, listGateWaiters, readGate } from '#test/features/functions/rows.ts'
import { allow, createFunction, createLatch, handlerOf, invoke, listStarted, waitAtLatch } from '#test/features/functions/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { createRole, type Org } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { setWorkspaceStatus, updateWorkspace } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw, Wire } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test, { TRUST_PROXY: '1' })
const open = { http_enabled: true }

const get = (client: Client, org: Org, id: string, rest = '', headers = fromAnywhere()) => client.get(`/fn/${org.id}/${id}${rest}`, headers)
const post = (client: Client, org: Org, id: string, body?: unknown, headers: Record<string, string> = {}) =>
  client.post(`/fn/${org.id}/${id}`, body, { ...fromAnywhere(), ...headers })

test('public: a public function receives the request, and its return value is the whole body', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return input'), open)
  const path = `/fn/${org.id}/${id}`
  const got = await get(visitor, org, id, '?a=1&b=2&a=3&empty&__proto__=p&c%20d=%C3%A9')
  t.is(got.status, 200)
  t.is(got.headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(got.headers.get('x-content-type-options'), 'nosniff')
  t.is(got.text, `{"method":"GET","path":"${path}","query":{"a":"1","b":"2","empty":"","__proto__":"p","c d":"é"},"body":null}`)
  t.deepEqual((await post(visitor, org, id, { x: [1.5, null] })).body, { method: 'POST', path, query: {}, body: { x: [1.5, null] } })
})

test('public: a body is read by its declared charset, and one that is unknown is 400', async (t) => {
  const { org, api } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return { body: input.body }'), open)
  const send = (type: string, bytes: Buffer) =>
    sendRaw(api.port, `POST /fn/${org.id}/${id} HTTP/1.1`, [`Content-Type: ${type}`, `Content-Length: ${bytes.length}`], bytes)
  t.deepEqual((await send('text/plain; charset=iso-8859-1', Buffer.from('4772fcdf', 'hex'))).body, { body: 'Grüß' })
  t.deepEqual((await send('application/json; charset=utf-16le', Buffer.from('{"a":"ß"}', 'utf16le'))).body, { body: { a: 'ß' } })
  const quoted = 'text/plain; profile="a; charset=utf-8"; charset=iso-8859-1'
  t.deepEqual((await send(quoted, Buffer.from('4772fcdf', 'hex'))).body, { body: 'Grüß' })
  const unknown = await send('text/plain; charset=klingon', Buffer.from('a'))
  t.is(unknown.status, 400)
  t.regex(unknown.text, /body must have a known charset such as utf-8 or iso-8859-1, got klingon/)
  t.is((await send('text/plain; charset=shift_jis', Buffer.from('ff81', 'hex'))).status, 400, 'bytes that the charset does not have')
})

test('public: a body is parsed if it is JSON of any content type, otherwise text, and null if it is missing', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return { body: input.body }'), open)
  const json = { 'content-type': 'application/json' }
  const text = { 'content-type': 'text/plain' }
  const cases: readonly (readonly [string | undefined, Record<string, string>, unknown])[] = [
    ['{"a":1}', json, { a: 1 }],
    ['"x"', { 'content-type': 'application/vnd.api+json; charset=utf-8' }, 'x'],
    ['{"a":', json, '{"a":'],
    ['1,'.repeat(100_001), { 'content-type': 'text/csv' }, '1,'.repeat(100_001)],
    ['{"a":1}', text, { a: 1 }],
    ['[1]', {}, [1]],
    ['12', text, 12],
    ['12 apples', text, '12 apples'],
    ['{"a":1}', { 'content-type': 'application/x-www-form-urlencoded' }, { a: 1 }],
    ['a=1&b=2', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1&b=2'],
    ['é😀', text, 'é😀'],
    ['', text, null],
    [undefined, {}, null],
  ]
  for (const [body, headers, seen] of cases) {
    const answer = await post(visitor, org, id, body, headers)
    t.is(answer.status, 200, answer.text)
    t.deepEqual(answer.body, { body: seen })
  }
  for (const [body, headers] of [
    ['\0', text],
    ['{"a":"\\u0000"}', json],
    ['['.repeat(65), json],
    [new Uint8Array([0xff]), text],
    ['x'.repeat(1024 * 1024 + 1), text],
    ['x', { ...text, 'content-encoding': 'gzip' }],
  ] as const) {
    const answer = await post(visitor, org, id, body, headers)
    t.is(answer.status, 400)
    t.is(answer.body.error.code, 'VALIDATION_ERROR')
  }
})

test('public: missing, disabled and private functions, and those of missing, suspended or app-less workspaces, get the same answer', async (t) => {
  const w = await fresh()
  const { org, visitor } = w
  const { id } = await createFunction(t, org, handlerOf('return 1'), open)
  const closed = await createFunction(t, org, handlerOf('return 1'))
  const disabled = await createFunction(t, org, handlerOf('return 1'), open)
  await org.owner.put(`${org.path}/functions/${disabled.id}`, { enabled: false })
  t.is((await get(visitor, org, id)).text, '1')

  const texts = new Set<string>()
  const missing = async (orgId: string, functionId: string) => {
    for (const method of ['GET', 'POST']) {
      const answer = await visitor.send(method, `/fn/${orgId}/${functionId}`, undefined, fromAnywhere())
      t.is(answer.status, 404)
      texts.add(answer.text.replace(answer.body.error.request_id, ''))
    }
  }
  for (const one of [closed.id, disabled.id, randomUUID(), 'x', "'--"]) await missing(org.id, one)
  for (const one of [randomUUID(), 'x']) await missing(one, id)
  await updateWorkspace(w.db, org.id, `apps = apps || '{"functions": false}'`)
  await missing(org.id, id)
  for (const status of ['suspended', 'provisioning']) {
    await updateWorkspace(w.db, org.id, `apps = apps || '{"functions": true}', status = '${status}'`)
    await missing(org.id, id)
  }
  t.is(texts.size, 1, [...texts].join('\n'))
  await setWorkspaceStatus(w.db, org.id, 'active')
  t.is((await get(visitor, org, id)).text, '1')
  await org.owner.put(`${org.path}/functions/${id}`, { http_enabled: false })
  await missing(org.id, id)
})

test('public: a function that throws or takes too long is a 500 without detail', async (t) => {
  const { org, visitor } = await fresh()
  const throws = await createFunction(t, org, handlerOf("console.log('secret'); throw new Error('secret')"), open)
  const endless = await createFunction(t, org, handlerOf('for (;;);'), { ...open, timeout_ms: 100 })
  for (const [id, message] of [
    [throws.id, 'function failed'],
    [endless.id, 'function timed out'],
  ]) {
    const answer = await get(visitor, org, id)
    t.is(answer.status, 500)
    t.deepEqual(answer.body, { error: { code: 'INTERNAL', message, request_id: answer.headers.get('x-request-id') } })
    t.false(answer.text.includes('secret'))
  }
})

test('public: a public function runs as the visitor, and without a grant it may only compute', async (t) => {
  const w = await fresh()
  const { org, visitor } = w
  await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Berlin' } })
  const list = handlerOf(
    "try { return (await sdk.records.list('locations')).records.length } catch (error) { return [error.code, input.query.n] }",
  )
  const { id } = await createFunction(t, org, list, open)
  t.deepEqual((await get(visitor, org, id, '?n=1')).body, ['FORBIDDEN', '1'])
  t.deepEqual((await get(org.owner, org, id, '?n=2')).body, ['FORBIDDEN', '2'], 'credentials are not looked at')
  await createRole(w, org, [{ ...allow('records:read', 'records:create'), resources: ['locations'] }], true)
  t.is((await get(visitor, org, id)).text, '1')
  const create = await createFunction(t, org, handlerOf("return (await sdk.records.create('locations', { name: 'x' })).created_by"), open)
  t.is((await get(visitor, org, create.id)).text, 'null')
  const [entry] = (await org.owner.get(`${org.path}/audit`)).data.entries
  t.like(entry, { action: 'record.created', actor_id: null, actor_type: 'system' })
  const [run] = (await org.owner.get(`${org.path}/functions/${create.id}/runs`)).data.runs
  t.like(run, { actor_id: null, actor_type: 'anonymous' })
  t.deepEqual(entry.cause, { kind: 'function', id: run.id })
})

test('public: an address may make sixty calls a minute, counted across API processes and functions', async (t) => {
  const w = await fresh()
  const { org, visitor } = w
  const second = await startSecondApi(t, w)
  const { id } = await createFunction(t, org, handlerOf('return 1'), open)
  const headers = fromAnywhere()
  const statuses: number[] = []
  for (let call = 0; call < 60; call++) {
    const answer = await get(call % 2 === 0 ? visitor : second, org, call % 3 === 0 ? 'nothing' : id, '', headers)
    statuses.push(answer.status)
    t.is(answer.headers.get('ratelimit-policy'), '"functions";q=60;w=60')
    t.regex(answer.headers.get('ratelimit') ?? '', new RegExp(`^"functions";r=${59 - call};t=\\d+$`))
  }
  t.deepEqual([...new Set(statuses)].sort(), [200, 404])
  for (const client of [visitor, second]) {
    const refused = await get(client, org, id, '', headers)
    t.is(refused.status, 429)
    t.is(refused.body.error.code, 'RATE_LIMITED')
    t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/)
    t.regex(refused.headers.get('ratelimit') ?? '', /^"functions";r=0;/)
  }
  t.is((await get(visitor, org, id)).status, 200, 'another address')
})

test('public: a public function receives every parameter, and those that are not UTF-8 are refused', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return Object.keys(input.query).length'), open)
  const many = Array.from({ length: 2_000 }, (_, number) => `p${number}`).join('&')
  t.is((await get(visitor, org, id, `?${many}`)).text, '2000')
  t.is((await get(visitor, org, id, `?${many}&bad=%ff`)).status, 400)
})

for (const moment of ['has gone before it began', 'goes while it is being filed']) {
  test(`public: a public call whose caller ${moment} leaves the line`, async (t) => {
    const w = await fresh()
    const { org } = w
    const { id } = await createFunction(t, org, handlerOf(`${waitAtLatch}; return 1`), { ...open, timeout_ms: 60_000 })
    const { id: wanted } = await createFunction(t, org, handlerOf("await sdk.records.create('locations', { name: 'public' })"), open)
    const latch = await createLatch(org)
    const running = Array.from({ length: 4 }, (_, number) => invoke(t, org, id, { latch: latch.id, number }))
    await eventually(async () => (await listStarted(org)).length === 4)
    const call = () => new Wire(w.api.port).send(`GET /fn/${org.id}/${wanted} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.9.8.7\r\n\r\n`)
    if (moment === 'has gone before it began') {
      const caller = call()
      await eventually(async () => (await readGate(w.db, org.id)).waiting === 1)
      caller.socket.destroy()
    } else await leaveWhileFiled(t, w, call)
    await eventually(async () => (await readGate(w.db, org.id)).waiting === 0)
    await latch.open()
    const answers = await Promise.all(running)
    t.deepEqual(
      answers.map(({ result, error }) => error ?? result),
      [1, 1, 1, 1],
    )
    t.deepEqual((await org.owner.get(`${org.path}/functions/${wanted}/runs`)).data.runs, [])
  })
}

/** Makes a call and destroys its connection while the statement that files its work waits for a lock; ends when it is filed. */
async function leaveWhileFiled(t: ExecutionContext, w: World, call: () => Wire): Promise<void> {
  const held = await lockTable(t, w.db, 'gated_jobs', 'share row exclusive')
  const caller = call()
  const filing = await eventually(async () => {
    const waiters = await listGateWaiters(w.db)
    return waiters.length > 0 && waiters
  })
  caller.socket.destroy()
  await once(caller.socket, 'close')
  // The server sees the closed connection before it answers a later request.
  await w.visitor.get('/readyz')
  await held.release()
  await eventually(async () => (await countBusySessions(w.db, filing)) === 0)
}

test('public: HEAD runs the function as GET does, and omits the body', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return input.method'), open)
  const [head, got] = [await visitor.send('HEAD', `/fn/${org.id}/${id}`, undefined, fromAnywhere()), await get(visitor, org, id)]
  t.deepEqual([head.status, head.text, head.headers.get('content-length')], [200, '', got.headers.get('content-length')])
  t.is(got.text, '"GET"')
})

test('public: browsers of any origin may call a public function, without credentials', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return 1'), open)
  const origin = { origin: 'https://elsewhere.example' }
  const preflight = await visitor.send('OPTIONS', `/fn/${org.id}/${id}`, undefined, { ...origin, 'access-control-request-method': 'POST' })
  t.is(preflight.status, 204)
  t.is(preflight.headers.get('access-control-allow-origin'), '*')
  const answer = await post(visitor, org, id, {}, origin)
  t.is(answer.headers.get('access-control-allow-origin'), '*')
  t.is(answer.headers.get('access-control-allow-credentials'), null)
})

test('public: the address has no version prefix, and Prefer and Idempotency-Key are ignored', async (t) => {
  const { org, visitor } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return (await sdk.crypto.uuid())'), open)
  t.is((await visitor.get(`/v1/fn/${org.id}/${id}`)).status, 404)
  t.is((await get(visitor, org, id, '/more')).status, 404)
  const headers = { prefer: 'respond-async', 'idempotency-key': 'k' }
  const [one, other] = [await post(visitor, org, id, {}, headers), await post(visitor, org, id, {}, headers)]
  t.is(one.status, 200)
  t.not(one.text, other.text)
})
