import test from 'ava'
import { sendDeliveriesJob } from '#shared/features/webhooks/jobs.ts'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { eventOf, makeOrders, makeWebhook } from '#test/features/webhooks/receiving.ts'
import { pauseUntilEnd } from '#test/platform/jobs/pausing.ts'
import { eventually } from '#test/support/eventually.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { setWorkspaceStatus } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

let receiver: Receiver
const slow = new Set<string>()
/** How far the clock of the world is ahead, in milliseconds. */
let aheadMs = 0
const start = shareWorld(
  test,
  async () => {
    receiver = await startReceiver((request, response) => {
      if (!slow.has(request.url)) response.writeHead(204).end()
    })
    return { EGRESS_ALLOW: receiver.host, EVENTS_KEEP_SECONDS: '60' }
  },
  { now: () => new Date(Date.now() + aheadMs) },
)
test.after.always(() => receiver?.close())

test('waiting: in a suspended workspace deliveries wait, and their events are kept', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver)
  const events = async () => (await w.org.owner.get(`${w.org.path}/events?types=records.*`)).data.events
  const end = await pauseUntilEnd(t, w, sendDeliveriesJob.name)
  await w.org.owner.post(orders, { values: { title: 'a' } })
  await eventually(async () => (await events()).length === 1)
  await setWorkspaceStatus(w.db, w.org.id, 'suspended')
  await end()
  aheadMs += 120_000
  await runMaintenanceTask(w, 'old events')
  t.is(webhook.sent().length, 0)
  await setWorkspaceStatus(w.db, w.org.id, 'active')
  await w.drain()
  t.deepEqual(
    webhook.sent().map((sent) => eventOf(sent).data.after?.title),
    ['a'],
  )
  await runMaintenanceTask(w, 'old events')
  t.deepEqual(await events(), [])
})

test('waiting: while the kind is paused nothing is sent, and all of it afterwards', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver)
  const end = await pauseUntilEnd(t, w, sendDeliveriesJob.name)
  for (const title of ['a', 'b']) await w.org.owner.post(orders, { values: { title } })
  await eventually(async () => (await w.org.owner.get(`${w.org.path}/events?types=records.*`)).data.events.length === 2)
  t.is(webhook.sent().length, 0)
  await end()
  await w.drain()
  t.is(webhook.sent().length, 2)
})

test('waiting: one that does not answer takes one of five places, and holds up no other webhook', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const [hanging, quick] = [await makeWebhook(w, receiver), await makeWebhook(w, receiver)]
  slow.add(hanging.path)
  for (let total = 0; total < 8; total += 1) await w.org.owner.post(orders, { values: { total } })
  await eventually(() => quick.sent().length === 8)
  await eventually(() => hanging.sent().length >= 5)
  t.is(hanging.sent().length, 5)
  slow.delete(hanging.path)
  await w.org.owner.delete(`${w.org.path}/webhooks/${hanging.id}`)
  await w.drain()
})
