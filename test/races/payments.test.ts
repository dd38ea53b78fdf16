import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, recordsOf } from '#test/features/payments/place.ts'
import { shareStripe } from '#test/features/payments/providers.ts'
import type { StripeAccount } from '#test/features/payments/stripe-stand-in.ts'
import { atOnce, openArena, type Ring, rounds } from '#test/races/arena.ts'
import { countPayments, letSweepDue } from '#test/races/rows.ts'

const server = shareStripe(test)
const arena = openArena(test, async () => ({ STRIPE_API_URL: (await server()).url }))

const open = async (ring: Ring, stripe: StripeAccount, connectionId: string) => {
  const { id } = await makeLink(ring, connectionId)
  const theirs = stripe.things.links.find(({ metadata }) => (metadata as { kontor_link: string }).kontor_link === id)
  return { id: id as string, session: stripe.open(theirs?.id ?? '') }
}

test('payments: webhook, refresh, sweep and cancel at once give one payments record and a link that is paid or cancelled', async (t) => {
  const ring = await arena.ring()
  const w = { ...arena.world(), org: ring }
  const stripe = (await server()).account()
  const connectionId = await connect(ring, 'stripe', stripe.credentials)
  const ends: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    const { id, session } = await open(ring, stripe, connectionId)
    const isPaid = round % 4 !== 0
    const event = isPaid ? stripe.pay(session).completed : stripe.emit('checkout.session.expired', session)
    await letSweepDue(w.db, ring.id)
    const answers = await atOnce(20, ring.owners, async (client, index) => {
      if (index % 4 === 0) return stripe.deliver(client.as(null), connectionId, event)
      return client.post(`${paymentsOf(ring)}/links/${id}/${index % 4 === 1 ? 'cancel' : 'refresh'}`)
    })
    t.deepEqual(
      answers.filter(({ status }) => status >= 500).map(({ text }) => text),
      [],
    )
    await w.drain()
    const { status } = await linkOf(ring, id)
    ends[status] = (ends[status] ?? 0) + 1
    t.is(status, isPaid ? 'paid' : 'cancelled')
    t.is(await countPayments(w.db, ring.id, id), isPaid ? 1 : 0)
  }
  t.is((await recordsOf(ring)).length, ends.paid)
  await letDue(w, 60)
  t.is((await recordsOf(ring)).length, ends.paid)
})

test('payments: twenty requests with one key create one link at the provider', async (t) => {
  const ring = await arena.ring()
  const stripe = (await server()).account()
  const connectionId = await connect(ring, 'stripe', stripe.credentials)
  for (let round = 0; round < 5; round++) {
    const body = { connection_id: connectionId, amount: round + 1 }
    const answers = await atOnce(20, ring.owners, (client) =>
      client.post(`${paymentsOf(ring)}/links`, body, { 'Idempotency-Key': `key ${round}` }),
    )
    t.deepEqual(new Set(answers.map(({ status, data }) => `${status} ${data?.id}`)).size, 1)
    t.is(stripe.things.links.length, round + 1)
  }
})
