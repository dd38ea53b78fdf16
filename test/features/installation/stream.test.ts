import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { EventStream } from '#api/http/reply/event-stream.ts'
import { maxStreams } from '#api/http/reply/open-streams.ts'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { dropOperator } from '#test/core/operators/rows.ts'
import { startNetwork } from '#test/faults/network.ts'
import { hideMailCounts } from '#test/features/installation/rows.ts'
import { ended, openStream } from '#test/support/event-stream.ts'
import { eventually } from '#test/support/eventually.ts'
import { startLogged } from '#test/support/logged-process.ts'
import { createOperator, visitConsole } from '#test/support/operators.ts'
import { world } from '#test/support/world.ts'

const eventsOf = (text: string) => [...text.matchAll(/^event: overview\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data ?? ''))

async function start(t: ExecutionContext) {
  const w = await world({}, [])
  t.teardown(w.close)
  const operator = await createOperator(w)
  const byToken = { authorization: `Bearer ${operator.client.token}` }
  return {
    w,
    operator,
    byToken,
    follow: (headers: Readonly<Record<string, string>> = byToken) => openStream(t, `${w.visitor.root}/v1/operator/stream`, headers),
  }
}

test('stream: an operator gets the overview at once and then each second, by token and by the cookie of the console', async (t) => {
  const { w, operator, follow } = await start(t)
  const console = await visitConsole(w, operator.id)
  for (const stream of [await follow(), await openStream(t, `${w.visitor.root}/operator/stream`, { cookie: console.headers.cookie })]) {
    const { headers, statusCode } = stream.answer
    t.is(statusCode, 200)
    t.like(headers, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    await eventually(() => eventsOf(stream.text()).length >= 3)
    t.true(stream.text().startsWith('retry: 2000\n\n'))
    const { data } = await operator.client.get('/v1/operator/overview')
    t.deepEqual(Object.keys(eventsOf(stream.text())[0]), Object.keys(data))
  }
})

test('stream: nobody else opens it', async (t) => {
  const { w, operator, follow } = await start(t)
  const console = await visitConsole(w, operator.id)
  const statusOf = async (path: string, headers: Readonly<Record<string, string>>) =>
    (await openStream(t, w.visitor.root + path, headers)).answer.statusCode
  t.is((await follow({})).answer.statusCode, 401)
  t.is((await follow({ authorization: `Bearer ${w.org.owner.token}` })).answer.statusCode, 403)
  t.is((await follow({ cookie: console.headers.cookie })).answer.statusCode, 401)
  t.is(await statusOf('/operator/stream', {}), 401)
  t.is(await statusOf('/operator/stream', { authorization: `Bearer ${operator.client.token}` }), 401)
})

test('stream: it ends with the rights of who looks, and the others go on', async (t) => {
  const { w, operator, follow } = await start(t)
  const [removed, second] = [await createOperator(w), await createOperator(w, true)]
  const visit = await visitConsole(w, second.id)
  const short = await visitConsole(w, second.id, 3)
  const byCookie = ({ headers: { cookie } }: typeof visit) => openStream(t, `${w.visitor.root}/operator/stream`, { cookie })
  const [stays, goes, pageGoes, expires] = [
    await follow(),
    await follow({ authorization: `Bearer ${removed.client.token}` }),
    await byCookie(visit),
    await byCookie(short),
  ]
  await ended(expires)
  await dropOperator(w.db, removed.id)
  await ended(goes)
  const form = new URLSearchParams({ form_token: visit.formToken })
  const out = await fetch(`${w.visitor.root}/operator/sign-out`, { method: 'POST', headers: visit.headers, redirect: 'manual', body: form })
  t.is(out.status, 303)
  await ended(pageGoes)
  t.false(stays.hasEnded())
  t.is((await operator.client.post('/v1/auth/sign-out')).status, 204)
  await ended(stays)
  t.true(stays.answer.complete, 'an ended stream is a whole answer')
})

test('stream: a server that stops ends its streams, and does not wait for them', async (t) => {
  const { w, byToken } = await start(t)
  const api = await startApi(w.config, createLogger('stopping', 'error'))
  const stream = await openStream(t, `http://127.0.0.1:${api.port}/v1/operator/stream`, byToken)
  await eventually(() => eventsOf(stream.text()).length > 0)
  const began = performance.now()
  await api.stop(60_000)
  t.true(performance.now() - began < 10_000)
  t.true(stream.hasEnded())
  t.true(stream.answer.complete)
})

test('stream: while the database is away it sends nothing, logs nothing of its own, and goes on afterwards', async (t) => {
  const { w, byToken } = await start(t)
  const network = await startNetwork(t, w.config.databaseUrl)
  const api = await startLogged(t, { config: { ...w.config, databaseUrl: network.url } }, 'api')
  const stream = await openStream(t, `${await api.root()}/v1/operator/stream`, byToken)
  const count = () => eventsOf(stream.text()).length
  await eventually(() => count() >= 2)
  network.cut()
  await api.line('the database is away')
  const before = count()
  await setTimeout(3_000)
  t.true(count() <= before + 1, 'one may have been on its way')
  network.mend()
  await api.line('the database is back')
  await eventually(() => count() >= before + 3)
  t.false(stream.hasEnded())
  t.deepEqual(
    api.lines().map(({ msg }) => msg),
    ['api ready', 'the database is away', 'the database is back'],
  )
})

test('stream: a failure to read the overview is one line of the log, however long it lasts', async (t) => {
  const { w, byToken } = await start(t)
  const api = await startLogged(t, w, 'api')
  const stream = await openStream(t, `${await api.root()}/v1/operator/stream`, byToken)
  const count = () => eventsOf(stream.text()).length
  await eventually(() => count() > 0)
  const mend = await hideMailCounts(w.db)
  await api.line('could not read the overview for its stream')
  await setTimeout(3_000)
  const before = count()
  await mend()
  await eventually(() => count() > before)
  t.deepEqual(
    api.lines().map(({ msg }) => msg),
    ['api ready', 'could not read the overview for its stream'],
  )
  t.is(api.lines().at(-1)?.request_id, undefined, 'the stream belongs to no request')
})

test('stream: a HEAD is answered without a stream', async (t) => {
  const { w, byToken } = await start(t)
  const answer = await fetch(`${w.visitor.root}/v1/operator/stream`, { method: 'HEAD', headers: byToken })
  t.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/event-stream; charset=utf-8'])
  t.is(await answer.text(), '')
})

test(`stream: a process sends ${maxStreams.operator} at a time, and answers the next one OVERLOADED until one ends`, async (t) => {
  const { w, byToken } = await start(t)
  const api = await startLogged(t, w, 'api')
  const root = await api.root()
  const follow = () => openStream(t, `${root}/v1/operator/stream`, byToken)
  const streams = await Promise.all(Array.from({ length: maxStreams.operator }, () => follow()))
  t.true(streams.every(({ answer }) => answer.statusCode === 200))
  const { statusCode, headers } = (await follow()).answer
  t.deepEqual([statusCode, headers['retry-after']], [503, '1'])
  streams[0]?.answer.destroy()
  await eventually(async () => (await follow()).answer.statusCode === 200)
  t.deepEqual(
    api.lines().map(({ msg }) => msg),
    ['api ready'],
    'a refusal is no failure of the server',
  )
})

test('stream: a client that takes nothing is cut, and one that takes a little is not', async (t) => {
  const stream = new EventStream({ retryMs: 1_000, unreadMs: 200, heartbeatMs: 60_000 })
  const ends: string[] = []
  stream.onClose((end) => ends.push(end))
  stream.send({ id: '7', event: 'change', data: { a: '\n' } })
  t.is(String(stream.body.read()), 'retry: 1000\n\nid: 7\nevent: change\ndata: {"a":"\\n"}\n\n')
  stream.send({ event: 'change', data: 'a'.repeat(1_000_000) })
  t.true(stream.isFull)
  for (let count = 0; count < 10; count += 1) {
    await setTimeout(50)
    t.truthy(stream.body.read(1_000), 'some bytes of a long event are taken at a time')
  }
  t.deepEqual(ends, [])
  await eventually(() => ends.length > 0)
  t.deepEqual(ends, ['unread'])
  const { waitingBytes } = stream
  stream.send({ event: 'change', data: 3 })
  t.is(stream.waitingBytes, waitingBytes)
})

test('stream: a silent stream has heartbeats, and an ended one nothing', async (t) => {
  const stream = new EventStream({ retryMs: 1_000, heartbeatMs: 50 })
  let text = ''
  stream.body.on('data', (piece) => {
    text += piece
  })
  await eventually(() => text.endsWith('\n\n:\n\n:\n\n'))
  stream.close('stop')
  await once(stream.body, 'close')
  const length = text.length
  await setTimeout(200)
  t.is(text.length, length)
})
