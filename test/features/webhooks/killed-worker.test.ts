import test from 'ava'
import { type Receiver, startReceiver } from '#test/features/flows/receiver.ts'
import { makeOrders, makeWebhook, verify } from '#test/features/webhooks/receiving.ts'
import { countDelivered, countTries, hurryDeliveries } from '#test/features/webhooks/rows.ts'
import { times } from '#test/support/depth.ts'
import { eventually } from '#test/support/eventually.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const [count, kills] = [times(60, 400), times(2, 10)]

let receiver: Receiver
// Webhooks are sent by worker processes of their own.
const start = shareWorld(
  test,
  async () => {
    receiver = await startReceiver((_, response) => {
      if (Math.random() < 0.3) response.writeHead(500).end()
      else setTimeout(() => response.writeHead(204).end(), 20)
    })
    return { EGRESS_ALLOW: receiver.host }
  },
  { pools: ['data', 'flows', 'schedule'] },
)
test.after.always(() => receiver?.close())

test('killed worker: each event arrives although receivers fail and workers are killed, and twice only what was under way', async (t) => {
  const w = await start()
  const orders = await makeOrders(w)
  const webhook = await makeWebhook(w, receiver)
  for (let total = 0; total < count; total += 1) await w.org.owner.post(orders, { values: { total } })
  const arrived = () => webhook.sent().length
  for (let kill = 0; kill < kills; kill += 1) {
    const worker = await startWorkerProcess(t, w, 'webhooks', { EGRESS_ALLOW: receiver.host })
    const before = arrived()
    await eventually(() => arrived() >= before + 5)
    await worker.kill('SIGKILL')
    await hurryDeliveries(w.db)
  }
  await startWorkerProcess(t, w, 'webhooks', { EGRESS_ALLOW: receiver.host })
  await eventually(async () => {
    await hurryDeliveries(w.db)
    return (await countDelivered(w.db, webhook.id)) === count
  }, 120_000)
  const events = webhook.sent().map((one) => verify(one, webhook.secret))
  const numbers = new Set(events.map(({ seq }) => seq))
  t.is(numbers.size, count)
  const unnoted = arrived() - (await countTries(w.db, webhook.id))
  t.true(unnoted >= 0 && unnoted <= 5 * kills, `${unnoted} requests were noted nowhere`)
  t.log(`${count} events, ${kills} kills, ${arrived()} requests, ${unnoted} of them noted nowhere`)
})
