import type { ServerResponse } from 'node:http'
import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { makeOrders, makeWebhook } from '#test/features/webhooks/receiving.ts'
import { forgetEvent } from '#test/features/webhooks/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

let receiver: Receiver
let answer: (response: ServerResponse, path: string) => void = (response) => response.writeHead(204).end()
/** How far the clock of the world is ahead, in milliseconds. */
let aheadMs = 0
const now = () => new Date(Date.now() + aheadMs)
const start = shareWorld(
  test,
  async () => {
    receiver = await startReceiver((request, response) => answer(response, request.url))
    return { EGRESS_ALLOW: receiver.host }
  },
  { now },
)
test.after.always(() => receiver?.close())

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const day = 24 * hour

const status = (code: number, headers: Record<string, string> = {}) => {
  answer = (response) => response.writeHead(code, headers).end()
}

const read = async (w: World, id: string) => (await w.org.owner.get(`${w.org.path}/webhooks/${id}`)).data
const deliveriesOf = async (w: World, id: string) => (await w.org.owner.get(`${w.org.path}/webhooks/${id}/deliveries`)).data

test('tries: waits grow, and after ten tries a delivery has failed', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver)
  status(500)
  await w.org.owner.post(orders, { values: { title: 'a' } })
  const waits = [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)]
  for (const [index, wait] of waits.entries()) {
    await w.drain()
    t.is(webhook.sent().length, index + 1)
    const { status, failing_since, next_attempt_at } = await read(w, webhook.id)
    t.is(status, 'failing')
    t.truthy(failing_since)
    const [delivery] = await deliveriesOf(w, webhook.id)
    const waited = Date.parse(next_attempt_at) - Date.parse(delivery.attempts.at(-1).at)
    t.true(waited > 0.9 * wait - 100 && waited < 1.1 * wait + 5_000, `${index}: ${waited} of ${wait}`)
    aheadMs = Date.parse(next_attempt_at) - Date.now() + 1
  }
  await w.drain()
  t.is(webhook.sent().length, 10)
  const ids = new Set(webhook.sent().map(({ headers }) => headers['webhook-id']))
  t.is(ids.size, 1)
  const [delivery] = await deliveriesOf(w, webhook.id)
  t.like(delivery, { status: 'failed' })
  t.is(delivery.attempts.length, 10)
  t.is((await read(w, webhook.id)).next_attempt_at, null)
  status(204)
  await w.org.owner.post(`${w.org.path}/webhooks/${webhook.id}/recover`, { since_seq: 0 })
  await w.drain()
  t.like(await read(w, webhook.id), { status: 'active', failing_since: null })
  t.is((await deliveriesOf(w, webhook.id))[0].status, 'delivered')
})

/** The two older forms of a date in headers (RFC 9110, 5.6.7). */
const rfc850 = (date: Date) => {
  const [, day, month, year, time] = /, (..) (...) ..(..) (\S+)/.exec(date.toUTCString()) ?? []
  return `${date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })}, ${day}-${month}-${year} ${time} GMT`
}
const asctime = (date: Date) => {
  const [, weekday, day, month, year, time] = /(...), (..) (...) (....) (\S+)/.exec(date.toUTCString()) ?? []
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
}

test('tries: Retry-After is obeyed in seconds and as a date, above a day as a day', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const date = new Date(now().getTime() + 3 * hour)
  for (const [header, wait] of [
    ['120', 2 * minute],
    [date.toUTCString(), 3 * hour],
    [rfc850(date), 3 * hour],
    [asctime(date), 3 * hour],
    ['86401', day],
    ['9999999999', day],
    ['9'.repeat(400), day],
  ] as const) {
    const webhook = await makeWebhook(w, receiver)
    status(503, { 'retry-after': header })
    await w.org.owner.post(orders, { values: { title: 'a' } })
    await w.drain()
    const [delivery] = await deliveriesOf(w, webhook.id)
    const { next_attempt_at } = await read(w, webhook.id)
    const waited = Date.parse(next_attempt_at) - Date.parse(delivery.attempts[0].at)
    t.true(Math.abs(waited - wait) < 5_000, `${header}: ${waited}`)
    await w.org.owner.delete(`${w.org.path}/webhooks/${webhook.id}`)
  }
})

test('tries: nothing waits for one that failed, and a delivery that is sent again begins anew', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const webhook = await makeWebhook(w, receiver)
  let calls = 0
  answer = (response) => {
    calls += 1
    response.writeHead(calls === 1 ? 500 : 200).end()
  }
  for (const title of ['a', 'b', 'c']) await owner.post(orders, { values: { title } })
  await w.drain()
  const deliveries = await deliveriesOf(w, webhook.id)
  const statuses = deliveries.map((one: { status: string }) => one.status).toSorted()
  t.deepEqual(statuses, ['delivered', 'delivered', 'waiting'])
  const first = deliveries.find((one: { status: string }) => one.status === 'waiting')
  const resend = `${path}/webhooks/${webhook.id}/deliveries/${first.id}/resend`
  t.like(await owner.post(resend), { status: 202 })
  await w.drain()
  t.is((await owner.get(`${path}/webhooks/${webhook.id}/deliveries?status=delivered`)).data.length, 3)
  await forgetEvent(w.db, w.org.id, first.event_seq)
  const gone = await owner.post(resend)
  t.is(gone.status, 400)
  t.regex(gone.body.error.message, /no longer kept/)
  t.is((await owner.post(`${path}/webhooks/${webhook.id}/recover`, { since_seq: 1_000_000 })).status, 400)
})

test('tries: 410 switches the webhook off, and its managers are told once', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner } = w.org
  const manager = await createMember(w, w.org, [{ effect: 'allow', actions: ['webhooks:manage'], resources: ['*'] }])
  const other = await createMember(w, w.org)
  const webhook = await makeWebhook(w, receiver)
  status(410)
  await owner.post(orders, { values: { title: 'a' } })
  await w.drain()
  status(204)
  await owner.post(orders, { values: { title: 'b' } })
  await w.drain()
  t.is(webhook.sent().length, 1)
  t.like(await read(w, webhook.id), { status: 'disabled', enabled: false, failing_since: null })
  const inbox = async (client = owner) => (await client.get(`${w.org.path}/notifications`)).data.notifications
  for (const client of [owner, manager.client]) {
    const [notice, ...more] = await inbox(client)
    t.like(notice, { event: 'webhook.disabled', record_id: null })
    t.regex(notice.title, /^A webhook to 127\.0\.0\.1 was switched off/)
    t.deepEqual(more, [])
  }
  t.deepEqual(await inbox(other.client), [])
})

test('tries: managers are told after a day of failures, and after five the webhook is off', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const { owner, path } = w.org
  const webhook = await makeWebhook(w, receiver)
  status(500)
  await owner.post(orders, { values: { title: 'a' } })
  await w.drain()
  const events = async () =>
    (await owner.get(`${path}/notifications`)).data.notifications.map(({ event }: { event: string }) => event).toSorted()
  const sweep = () => runMaintenanceTask(w, 'webhooks that fail')
  await sweep()
  t.deepEqual(await events(), [])
  aheadMs += day + second
  for (const _ of [1, 2]) await sweep()
  t.deepEqual(await events(), ['webhook.failing'])
  t.is((await read(w, webhook.id)).status, 'failing')
  aheadMs += 4 * day
  for (const _ of [1, 2]) await sweep()
  t.deepEqual(await events(), ['webhook.disabled', 'webhook.failing'])
  t.like(await read(w, webhook.id), { status: 'disabled', next_attempt_at: null })
  t.is((await deliveriesOf(w, webhook.id))[0].status, 'failed')
})

test('tries: deliveries are kept for 30 days', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver)
  status(204)
  await w.org.owner.post(orders, { values: { title: 'a' } })
  await w.drain()
  aheadMs += 30 * day - minute
  await runMaintenanceTask(w, 'webhooks.deleteOldDeliveries')
  t.is((await deliveriesOf(w, webhook.id)).length, 1)
  aheadMs += 2 * minute
  await runMaintenanceTask(w, 'webhooks.deleteOldDeliveries')
  t.is((await deliveriesOf(w, webhook.id)).length, 0)
})
