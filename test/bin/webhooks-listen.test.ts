import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { cable } from '#test/bin/cable.ts'
import { callWith } from '#test/bin/call.ts'
import { startReceiver } from '#test/features/flows/receiver.ts'
import { eventOf, verify } from '#test/features/webhooks/receiving.ts'
import { startApiProcess } from '#test/support/api-process.ts'
import { numberEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { createService } from '#test/support/factories.ts'
import { startLauncher } from '#test/support/process.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'
import { runCommand } from '../../bin/run-command.ts'
import { freePort } from '../../scripts/ports.ts'

const shared = shareWorld(test)

/** The variables of a caller that may read records, at a server of the API. */
async function caller(w: World, port: string | number): Promise<{ KONTOR_URL: string; KONTOR_KEY: string; DATA_DIR: string }> {
  const { client } = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  return { KONTOR_URL: `http://127.0.0.1:${port}`, KONTOR_KEY: client.token ?? '', DATA_DIR: w.config.dataDir }
}

const makeRecord = async ({ org }: World, name: string): Promise<string> =>
  (await org.owner.post(`${org.path}/records/locations`, { values: { name } })).data.id

/** Runs the command in this process until it is stopped or fails. */
function listen(t: ExecutionContext, environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const interrupted = new AbortController()
  const [out, err]: [string[], string[]] = [[], []]
  const ended = runCommand(['webhooks', 'listen', ...args], {
    environment,
    out: { write: (text: string) => out.push(text) },
    err: { write: (text: string) => err.push(text) },
    interruption: () => interrupted.signal,
  })
  t.teardown(() => {
    interrupted.abort()
    return ended
  })
  const lines = () => out.join('').split('\n').slice(0, -1)
  return {
    lines,
    err: () => err.join(''),
    ended,
    begun: () => eventually(() => lines().length > 0),
    stop: () => {
      interrupted.abort()
      return ended
    },
  }
}

test('webhooks listen: forwards each event signed with a secret of its own, follows no redirect, and ends by an interruption', async (t) => {
  const w = await shared()
  const { root } = await startApiProcess(t, w)
  const receiver = await startReceiver((_, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  t.teardown(receiver.close)
  const url = receiver.url.replace('127.0.0.1', 'localhost')
  const environment = await caller(w, new URL(root).port)
  await makeRecord(w, 'before')
  await numberEvents(w)
  const child = await startLauncher(t, w, ['webhooks', 'listen', `--forward=${url}/hooks`, '--types=records.*'], environment)
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await eventually(() => lines.length >= 2)
  const secret = /whsec_\S+/.exec(lines[0] ?? '')?.[0] ?? ''
  const ids = [await makeRecord(w, 'one'), await makeRecord(w, 'two')]
  await w.org.owner.post(`${w.org.path}/types`, { key: 'visits', label: 'Visits' })
  ids.push(await makeRecord(w, 'three'))
  await numberEvents(w)
  await eventually(() => lines.length >= 5)
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  t.deepEqual(await ended, [0, null])
  const events = receiver.received.map((request) => verify(request, secret))
  t.deepEqual(
    events.map(({ type, subject }) => [type, subject.id]),
    ids.map((id) => ['records.created', id]),
  )
  t.deepEqual(new Set(receiver.received.map(({ method, url }) => `${method} ${url}`)), new Set(['POST /hooks']))
  const listenerIds = receiver.received.map(({ headers }, index) => {
    const [eventId, listenerId] = String(headers['webhook-id']).split(':')
    t.is(eventId, events[index]?.id)
    return listenerId
  })
  t.is(new Set(listenerIds).size, 1)
  t.regex(listenerIds[0] ?? '', /^[\da-f-]{36}$/)
  t.throws(() => verify(receiver.received[0] as (typeof receiver.received)[0], `whsec_${Buffer.alloc(32).toString('base64')}`))
  for (const [index, line] of lines.slice(2).entries())
    t.regex(line, new RegExp(`^${events[index]?.seq}  records\\.created  302  \\d+ ms$`))
})

test('webhooks listen: goes on over a cut connection and after a receiver that was away, and loses nothing', async (t) => {
  const w = await shared()
  const { root } = await startApiProcess(t, w)
  const wire = cable(() => Number(new URL(root).port))
  const port = await wire.plug()
  t.teardown(wire.cut)
  const receiver = await startReceiver((_, response) => response.writeHead(204).end())
  t.teardown(receiver.close)
  const listening = listen(t, await caller(w, port), receiver.url, '--json', '--types=records.*')
  await listening.begun()
  await wire.cut()
  const ids = [await makeRecord(w, 'while no event was read yet')]
  await numberEvents(w)
  await eventually(() => /Without a stream, and connecting again after \d+: /.test(listening.err()))
  await wire.plug(port)
  await eventually(() => receiver.received.length === 1)
  await wire.cut()
  for (const name of ['one', 'two', 'three']) ids.push(await makeRecord(w, name))
  await numberEvents(w)
  await wire.plug(port)
  await eventually(() => receiver.received.length === 4)
  t.regex(listening.err(), /Connected again, after \d+\.\n/)
  t.deepEqual(
    receiver.received.map((request) => eventOf(request).subject.id),
    ids,
  )
  receiver.close()
  ids.push(await makeRecord(w, 'unheard'))
  await numberEvents(w)
  await eventually(() => listening.lines().length === 6)
  t.is(await listening.stop(), 0)
  const [{ secret }, ...results] = listening.lines().map((line) => JSON.parse(line))
  for (const request of receiver.received) t.notThrows(() => verify(request, secret))
  t.deepEqual(
    results.map(({ type, status }) => [type, status]),
    [...Array.from({ length: 4 }, () => ['records.created', 204]), ['records.created', null]],
  )
  t.regex(results[4].error, /^http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/)
})

test('webhooks listen: refuses wrong arguments with code 2, and what the API refuses with code 1', async (t) => {
  const w = await shared()
  const environment = await caller(w, w.api.port)
  for (const [message, ...args] of [
    [/forward/],
    [/--forward must be an address such as http:\/\/localhost:4000, got localhost: The address cannot be read/, 'localhost'],
    [/--forward must be an address .* must start with http/, 'ftp://localhost'],
    [/there is no type "records.changed"/, 'http://localhost:4000', '--types=records.changed'],
    [/unexpected argument: x/, 'http://localhost:4000', 'a', 'b', 'c', 'd', 'x'],
  ] as const) {
    const { code, err, out } = await callWith(environment, 'webhooks', 'listen', ...args)
    t.deepEqual([code, out], [2, ''])
    t.regex(err, message)
    t.regex(err, /Usage: .*webhooks listen/)
  }
  const refuse = (more: Record<string, string>) =>
    callWith({ ...environment, ...more }, 'webhooks', 'listen', 'http://localhost:4000', '--json')
  const unknown = await refuse({ KONTOR_KEY: `${environment.KONTOR_KEY}x` })
  t.deepEqual([unknown.code, unknown.json.error.code], [1, 'UNAUTHORIZED'])
  const away = await refuse({ KONTOR_URL: `http://127.0.0.1:${await freePort()}` })
  t.is(away.code, 1)
  t.regex(away.json.error.message, /cannot be reached/)
})

test('webhooks listen: waits while the API has no place, tells of a resync, and ends when the key has no rights any more', async (t) => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => refuse(response, 429, 'RATE_LIMITED', 'Too many streams', { 'retry-after': '1' }),
    (response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(
          'retry: 10\n\nid: b:40\nevent: resync\ndata: {"oldest_seq":31}\n\nid: b:43\nevent: seen\ndata: {}\n\nid: b:44\nevent: cut off\nda',
        ),
    (response) => refuse(response, 503, 'OVERLOADED', 'Too busy'),
    (response) => refuse(response, 403, 'ORG_SUSPENDED', 'This workspace is suspended'),
  ]
  const asked: [position: unknown, at: number][] = []
  const server = createServer((request: IncomingMessage, response) => {
    if (request.headers.accept !== 'text/event-stream') return response.end('{"data":{"feed":"a","last_seq":7}}')
    asked.push([request.headers['last-event-id'], performance.now()])
    return answers.shift()?.(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const environment = { KONTOR_URL: `http://127.0.0.1:${port}`, KONTOR_KEY: 'key', KONTOR_ORG: 'org' }
  const listening = listen(t, environment, 'http://localhost:4000')
  t.is(await listening.ended, 1)
  t.deepEqual(
    asked.map(([position]) => position),
    ['a:7', 'a:7', 'b:43', 'b:43'],
  )
  t.true((asked[1]?.[1] ?? 0) - (asked[0]?.[1] ?? 0) >= 1_000)
  t.deepEqual(
    listening
      .err()
      .split('\n')
      .map((line) => line.replace(/ They are .*$/, '')),
    [
      'Without a stream, and connecting again after 7: Too many streams',
      'Connected again, after 7.',
      'resync: the events between 7 and 40 are not sent.',
      'Without a stream, and connecting again after 43: the stream ended',
      'Without a stream, and connecting again after 43: Too busy',
      'This workspace is suspended',
      '',
    ],
  )
  t.is(listening.lines().length, 2)
})

const refuse = (response: ServerResponse, status: number, code: string, message: string, headers: Record<string, string> = {}) =>
  response.writeHead(status, headers).end(JSON.stringify({ error: { code, message } }))
