import { randomUUID } from 'node:crypto'
import test from 'ava'
import { within } from '#shared/core/scope/scope.ts'
import { applyFacts } from '#shared/features/payments/events/apply.ts'
import { stripe as provider } from '#shared/features/payments/providers/stripe.ts'
import { connect } from '#test/features/payments/place.ts'
import { addStripeLink, readLinkOutcomes } from '#test/features/payments/rows.ts'
import { startStripe } from '#test/features/payments/stripe-stand-in.ts'
import { scopeOf } from '#test/support/scope.ts'
import { world } from '#test/support/world.ts'

test('orders: events of a payment in any order create one payments record and a paid link', async (t) => {
  const server = await startStripe()
  t.teardown(server.close)
  const w = await world({ STRIPE_API_URL: server.url }, ['data'])
  t.teardown(w.close)
  const stripe = server.account()
  const connectionId = await connect(w.org, 'stripe', stripe.credentials)
  const scope = await scopeOf(w, w.org)
  // Two of the six are the same event, delivered twice, so that half of the 720 orders are those of the other half.
  const orders = new Map(permutations([0, 1, 2, 2, 3, 4]).map((order) => [order.join(), order]))
  t.is(orders.size, 360)
  for (const order of orders.values()) {
    const [linkId, theirs] = [randomUUID(), `plink_${randomUUID()}`]
    await addStripeLink(w.db, w.org.id, connectionId, linkId, theirs)
    const link = { id: theirs, object: 'payment_link', active: true, metadata: { kontor_link: linkId }, amount: 10_000, currency: 'usd' }
    stripe.things.links.unshift(link)
    const session = stripe.open(theirs)
    const { completed } = stripe.pay(session, { later: true })
    const expired = stripe.emit('checkout.session.expired', { ...session, payment_status: 'unpaid', status: 'expired' })
    const settled = stripe.settle(session, true)
    const events = [completed, expired, settled.session, stripe.refund(session, 1_000), settled.intent]
    for (const index of order) {
      const facts = provider.readEvent(Buffer.from(JSON.stringify(events[index])))
      await scope.db.transaction((tx) => applyFacts(within(scope, tx), { connectionId, source: 'webhook' }, facts))
    }
  }
  const outcomes = await readLinkOutcomes(w.db, w.org.id)
  t.is(outcomes.length, 360)
  t.deepEqual(new Set(outcomes.map(({ status, records, refunded }) => `${status} ${records} ${refunded}`)), new Set(['paid 1 10']))
  t.is((await w.org.owner.get(`${w.org.path}/records/payments?offset=0&limit=1`)).data.total, 360)
})

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}
