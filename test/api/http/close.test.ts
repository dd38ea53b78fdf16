import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createGracefulClose } from '#api/http/graceful-close.ts'
import { type Api, startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { countRows, dropQueuedJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { Wire } from '#test/support/wire.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test)

/** An API of the test's own that can be stopped. */
async function ownApi(t: ExecutionContext, w: World): Promise<Api> {
  const api = await startApi(w.config, createLogger('closing', 'error'))
  t.teardown(() => api.stop(100).catch(() => undefined))
  return api
}

const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'

test('close: a request on an idle connection is answered while the server stops, and its connection closes', async (t) => {
  const w = await shared()
  const api = await ownApi(t, w)
  const wire = new Wire(api.port).send(request)
  await once(wire.socket, 'data')
  const stopped = api.stop(60_000)
  wire.send(request)
  const { status, headers } = await wire.answer()
  t.is(status, 200)
  t.is(headers.get('connection'), 'close')
  await stopped
  await t.throwsAsync(fetch(`http://127.0.0.1:${api.port}/healthz`), undefined, 'the server accepts no new connections')
})

test('close: connections that a client keeps are used up while it sends requests', async (t) => {
  const quietMs = 3_000
  const { ServerResponse, close } = createGracefulClose({ quietMs })
  const server = createServer({ ServerResponse }, (_, response) => response.end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wires = Array.from({ length: 4 }, () => new Wire((server.address() as AddressInfo).port).send(request))
  await Promise.all(wires.map(({ socket }) => once(socket, 'data')))
  const closed = close(server, 60_000)
  for (const wire of wires) {
    await delay(quietMs / 3)
    wire.send(request)
    t.is((await wire.answer()).headers.get('connection'), 'close')
  }
  await closed
})

test('close: an idle connection does not keep a server from stopping', async (t) => {
  const w = await shared()
  const api = await ownApi(t, w)
  const wire = new Wire(api.port).send(request)
  await once(wire.socket, 'data')
  await api.stop(60_000)
  t.is((await wire.answer()).status, 200)
})

test('close: a caller that waits for a worker while the server stops gets the address of its job', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const api = await ownApi(t, w)
  const client = new Client(`http://127.0.0.1:${api.port}`, w.org.owner.token)
  const waiting = client.post(`${w.org.path}/functions`, { name: 'Late', source: 'async function handler() {}' })
  await eventually(async () => (await countRows(w.db, 'operations')) > 0)
  await api.stop(1_000)
  const { status, data, headers } = await waiting
  t.is(status, 202)
  t.deepEqual(data, { job_id: data.job_id, status: 'queued' })
  t.is(headers.get('preference-applied'), 'respond-async')
  await dropQueuedJobs(w.db)
})
