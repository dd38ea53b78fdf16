import type { ServerResponse } from 'node:http'
import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { makeOrders, makeWebhook } from '#test/features/webhooks/receiving.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

let receiver: Receiver
const answers = new Map<string, (response: ServerResponse) => void>()
const start = shareWorld(test, async () => {
  receiver = await startReceiver((request, response) => answers.get(request.url)?.(response))
  return { EGRESS_ALLOW: receiver.host }
})
test.after.always(() => receiver?.close())

/** The first try of a webhook to a receiver that answers so. */
async function tryOnce(w: World, answer: (response: ServerResponse) => void, more: object = {}) {
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver, more)
  answers.set(webhook.path, answer)
  await w.org.owner.post(orders, { values: { title: 'a' } })
  await w.drain()
  const [delivery] = (await w.org.owner.get(`${w.org.path}/webhooks/${webhook.id}/deliveries`)).data
  return { status: delivery.status, attempt: delivery.attempts[0], sent: webhook.sent().length }
}

const chunk = 'x'.repeat(16 * 1_024)

test('receivers: of an answer without an end 64 KB are read, and its status counts', async (t) => {
  let bytes = 0
  const result = await tryOnce(await start(), (response) => {
    response.writeHead(200)
    const write = () => {
      while (!response.destroyed) {
        bytes += chunk.length
        if (!response.write(chunk)) return void response.once('drain', write)
      }
    }
    write()
  })
  t.like(result, { status: 'delivered', attempt: { status: 200, error: null } })
  t.true(bytes < 16_000_000)
})

test('receivers: a redirect is a failure and is not followed', async (t) => {
  const result = await tryOnce(await start(), (response) => response.writeHead(302, { location: '/elsewhere' }).end())
  t.like(result, { status: 'waiting', attempt: { status: 302, error: null }, sent: 1 })
  t.false(receiver.received.some(({ url }) => url === '/elsewhere'))
})

test('receivers: one that breaks the connection, and one that speaks no HTTP, are failures', async (t) => {
  const broken = await tryOnce(await start(), (response) => response.destroy())
  t.like(broken, { status: 'waiting', attempt: { status: null } })
  t.truthy(broken.attempt.error)
  const strange = await tryOnce(await start(), (response) => response.socket?.end('HELLO\r\n\r\n'))
  t.like(strange, { status: 'waiting', attempt: { status: null } })
})

test('receivers: one that does not answer within 15 s is a failure', async (t) => {
  const result = await tryOnce(await start(), () => undefined)
  t.like(result, { status: 'waiting', attempt: { status: null, error: 'No complete answer within 15 s' } })
  t.true(result.attempt.ms >= 15_000 && result.attempt.ms < 30_000)
})

test('receivers: a private address is refused', async (t) => {
  for (const url of ['http://127.0.0.1:9/', 'http://169.254.169.254/latest/', 'http://[::1]:8080/', 'http://10.0.0.1/']) {
    const result = await tryOnce(await start(), () => undefined, { url })
    t.like(result, { status: 'waiting', attempt: { status: null } }, url)
    t.regex(result.attempt.error, /no public address/, url)
  }
})
