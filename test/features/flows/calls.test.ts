import { gzipSync } from 'node:zlib'
import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { loseCallAttempt, loseRun, readOutputs } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow, ended, outputsOf, play, runOf, start } from '#test/features/flows/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const megabyte = 1_048_576
const held = new Set<() => void>()

let receiver: Receiver
let w: World
const shared = shareWorld(test, async () => {
  receiver = await startReceiver(({ url }, response) => {
    const [, path = '', rest = '', hex = ''] = url.split('/')
    if (path === 'json')
      response
        .writeHead(200, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
        .end('{"a": {"b": [1, 2.50, 1e2, 12345678901234567890.5]}}')
    else if (path === 'login')
      response
        .writeHead(200, { 'content-type': 'application/json', authorization: 'Basic hidden', 'x-auth-token': 'hidden' })
        .end('{"access_token": "hidden", "total_tokens": 5, "user": {"name": "Ann", "client_secret": ["hidden"]}, "token": ""}')
    else if (path === 'marked') response.writeHead(200, { 'content-type': 'application/json' }).end('\ufeff{"a": 1}')
    else if (path === 'typed') response.writeHead(200, { 'content-type': decodeURIComponent(rest) }).end(Buffer.from(hex, 'hex'))
    else if (path === 'bytes') response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(Number(rest)))
    else if (path === 'bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20 * megabyte)))
    else if (path === 'redirect') response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    // A slow server is the subject of tests of the time limit.
    else if (path === 'after') setTimeout(() => response.end('late'), Number(rest))
    else if (path === 'held') held.add(() => response.end('answered'))
    else response.writeHead(Number(path) || 200).end('sent')
  })
  return { EGRESS_ALLOW: receiver.host }
})
test.after.always(() => receiver?.close())
const open = once(async () => {
  w = await shared()
})

const call = (path: string, more: object = {}) => ['h', 'action.http_request', { url: `${receiver.url}/${path}`, ...more }] as const
const call2 = (path: string, more: object) => ['k', 'action.http_request', { url: `${receiver.url}/${path}`, ...more }] as const
const callsTo = (path: string) => receiver.received.filter(({ url }) => url === `/${path}`)

test('calls: a call sends the configured request and returns its answer', async (t) => {
  await open()
  const org = await createOrg(w)
  const headers = { 'X-Name': '{{trigger.input.name}}' }
  const run = await play(t, org, chain(byHand, call('json', { method: 'PUT', headers, body: '{"n": "{{trigger.input.name}}"}' })), {
    name: 'Ann',
  })
  t.is(run.status, 'ok', run.error)
  const { status, headers: answered, body } = outputsOf(run).h
  t.deepEqual([status, body], [200, { a: { b: [1, 2.5, 100, '12345678901234567890.5'] } }])
  t.is(answered['set-cookie'], '[redacted]')
  t.true(run.started_at <= run.steps[0].started_at)
  const [one, another] = callsTo('json')
  t.is(another, undefined)
  t.like(one, { method: 'PUT', body: '{"n": "Ann"}' })
  t.like(one?.headers, { 'x-name': 'Ann', 'content-type': 'application/json', 'idempotency-key': `${run.id}:h:` })
})

test('calls: values that look like secrets reach later blocks, and are neither shown nor stored with a successful run', async (t) => {
  await open()
  const org = await createOrg(w)
  const run = await play(
    t,
    org,
    chain(
      byHand,
      call('login'),
      ['w', 'logic.wait', { minutes: '0.001' }],
      ['f', 'logic.filter', { list: ['{{steps.h.body}}'] }],
      call2('own-{{steps.h.body.access_token}}', { headers: { 'X-Auth': '{{steps.f.items.0.user.client_secret.0}}' } }),
    ),
  )
  t.is(run.status, 'ok', run.error)
  const { h, f } = outputsOf(run)
  const body = { access_token: '[redacted]', total_tokens: 5, user: { name: 'Ann', client_secret: '[redacted]' }, token: '' }
  t.deepEqual(h.body, body)
  t.like(h.headers, { authorization: '[redacted]', 'x-auth-token': '[redacted]', 'content-type': 'application/json' })
  t.deepEqual(f.items, [body])
  t.is(callsTo('own-hidden')[0]?.headers['x-auth'], 'hidden')
  t.false(JSON.stringify(await readOutputs(w.db, run.id)).includes('hidden'))
})

test('calls: a JSON answer that begins with a byte order mark is parsed', async (t) => {
  await open()
  const { h } = outputsOf(await play(t, await createOrg(w), chain(byHand, call('marked'))))
  t.deepEqual(h.body, { a: 1 })
})

test('calls: an Idempotency-Key and a content type set by the author take precedence', async (t) => {
  await open()
  const org = await createOrg(w)
  await play(
    t,
    org,
    chain(byHand, call('own', { method: 'POST', headers: { 'idempotency-key': 'mine', 'Content-Type': 'text/csv' }, body: 'a,b' })),
  )
  t.like(callsTo('own')[0]?.headers, { 'idempotency-key': 'mine', 'content-type': 'text/csv' })
})

/** Answers, and whether they are data. */
const answers: readonly (readonly [path: string, output: object | null, error: RegExp | null])[] = [
  ['500', { status: 500, body: 'sent' }, null],
  ['404', { status: 404 }, null],
  ['redirect', { status: 302 }, null],
  [`bytes/${megabyte}`, null, null],
  [`bytes/${megabyte + 1}`, null, /^VALIDATION_ERROR at h: .*1048576 bytes/],
  ['bomb', null, /^VALIDATION_ERROR at h: .*1048576 bytes/],
  ['after/9000', { status: 200, body: 'late' }, null],
  ['after/11000', null, /^DATASOURCE_ERROR at h: /],
]
for (const [path, output, error] of answers) {
  test(`calls: an answer to ${path}`, async (t) => {
    await open()
    const run = await play(t, await createOrg(w), chain(byHand, call(path)))
    if (error) t.regex(run.error, error)
    else t.is(run.status, 'ok', run.error)
    if (output) t.like(outputsOf(run).h, output)
    t.is(callsTo(path).length, 1, 'it is called once')
  })
}

test('calls: an answer is read by its declared charset, and one that is unknown fails the step', async (t) => {
  await open()
  const org = await createOrg(w)
  const bodies: readonly (readonly [type: string, hex: string, body: unknown])[] = [
    ['text/plain; charset=iso-8859-1', '4772fcdf', 'Grüß'],
    ['application/json;charset="windows-1252"', '7b2261223a224772fcdf20e4227d', { a: 'Grüß ä' }],
    ['text/plain; charset=Shift_JIS', '93fa967b', '日本'],
    ['text/plain', Buffer.from('Grüß').toString('hex'), 'Grüß'],
  ]
  for (const [type, hex, body] of bodies) {
    const run = await play(t, org, chain(byHand, call(`typed/${encodeURIComponent(type)}/${hex}`)))
    t.is(run.status, 'ok', run.error)
    t.deepEqual(outputsOf(run).h.body, body, type)
  }
  const run = await play(t, org, chain(byHand, call(`typed/${encodeURIComponent('text/plain; charset=klingon')}/61`)))
  t.regex(run.error, /^VALIDATION_ERROR at h: the answer must have a known charset such as utf-8 or iso-8859-1, got klingon/)
})

test('calls: an internal address is refused before any connection is opened, also if a reference produces it', async (t) => {
  await open()
  const org = await createOrg(w)
  const body = chain(byHand, ['h', 'action.http_request', { url: '{{trigger.input}}' }])
  for (const url of [
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://0x7f.1/',
    'file:///etc/passwd',
    'nonsense',
  ]) {
    const run = await play(t, org, body, url)
    t.regex(run.error, url.includes('localhost') ? /does not resolve/ : /^VALIDATION_ERROR at h: /, url)
  }
})

test('calls: a run that is cancelled during a call ends at once, and a later answer is dropped', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(
    t,
    org,
    chain(byHand, call('held'), ['a', 'action.create_record', { object_type: 'locations', values: { name: 'x' } }]),
  )
  const runId = await start(t, org, flow.id)
  await eventually(() => held.size > 0)
  t.is((await runOf(org, flow.id, runId)).status, 'running')
  const cancelled = await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/cancel`)
  t.like(cancelled.data, { id: runId, status: 'cancelled', steps: [] })
  for (const answer of held) answer()
  held.clear()
  await w.drain()
  t.like(await runOf(org, flow.id, runId), { status: 'cancelled', steps: [] })
  t.is((await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/cancel`)).status, 400)
  const retried = await org.owner.post(`${org.path}/flows/${flow.id}/runs/${runId}/retry`)
  t.is(retried.status, 202)
  t.like(retried.data, { retry_of: runId, status: 'queued', trigger: { kind: 'manual' } })
  await eventually(() => held.size > 0)
  for (const answer of held) answer()
  t.is((await ended(org, flow.id, retried.data.id)).status, 'ok')
})

test('calls: a call whose worker was lost is repeated with the same Idempotency-Key', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(t, org, chain(byHand, call('held')))
  held.clear()
  const runId = await start(t, org, flow.id)
  await eventually(() => held.size > 0)
  await loseCallAttempt(w.db, runId)
  w.worker.pools.pollAll()
  await eventually(() => held.size === 2)
  for (const answer of held) answer()
  t.is((await ended(org, flow.id, runId)).status, 'ok')
  const keys = callsTo('held').map(({ headers }) => headers['idempotency-key'])
  t.deepEqual(keys.filter((key) => key === `${runId}:h:`).length, 2)
  t.is((await runOf(org, flow.id, runId)).steps.length, 1)
})

test('calls: a call whose job is lost is repeated with the same Idempotency-Key up to five times, then the run fails', async (t) => {
  await open()
  const org = await createOrg(w)
  const flow = await createFlow(t, org, chain(byHand, call('201')))
  const lost = async (revived: number) => {
    const runId = await start(t, org, flow.id)
    await ended(org, flow.id, runId)
    await loseRun(w.db, runId, revived, 'h')
    await runMaintenanceTask(w, 'lost runs of flows')
    const run = await ended(org, flow.id, runId)
    return { run, calls: callsTo('201').filter(({ headers }) => headers['idempotency-key'] === `${runId}:h:`).length }
  }
  for (const revived of [0, 4]) {
    const { run, calls } = await lost(revived)
    t.is(run.status, 'ok', run.error)
    t.is(calls, 2)
  }
  const { run, calls } = await lost(5)
  t.like(run, { status: 'failed', error: 'INTERNAL: The run was given up: its worker was lost again and again' })
  t.is(calls, 1)
})
