import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, recordsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'

const newWorkspace = shareProviders(test)

const start = async () => {
  const w = await newWorkspace()
  const { razorpay } = w
  const connectionId = await connect(w.org, 'razorpay', razorpay.credentials)
  const link = async (more: object = {}) => {
    const made = await makeLink(w.org, connectionId, { currency: 'INR', ...more })
    const theirs = razorpay.things.links.find(({ reference_id }) => reference_id === made.id)
    if (!theirs) throw new Error('Razorpay has no such link')
    return { ...made, theirs }
  }
  return { w, razorpay, connectionId, link }
}

test('razorpay: a link is created as Razorpay documents it, with Kontor’s id as its reference', async (t) => {
  const { w, connectionId, link } = await start()
  const made = await link({
    customer_name: 'Gaurav',
    customer_contact: '+919999999999',
    redirect_url: 'https://shop.example/',
    description: 'Chairs',
  })
  t.like(made.theirs, {
    amount: 10_000,
    currency: 'INR',
    accept_partial: false,
    description: 'Chairs',
    customer: { name: 'Gaurav', contact: '+919999999999' },
    expire_by: Math.floor(Date.parse(made.expires_at) / 1_000),
    notes: { kontor_link: made.id },
    callback_url: 'https://shop.example/',
    callback_method: 'get',
  })
  t.is(made.short_url, made.theirs.short_url)
  const soon = { connection_id: connectionId, amount: 1, currency: 'INR', expires_at: new Date(Date.now() + 14 * 60_000).toISOString() }
  const refused = await w.org.owner.post(`${paymentsOf(w.org)}/links`, soon)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /^expires_at must be at least 15 minutes ahead/)
})

test('razorpay: several events of one payment create one payments record', async (t) => {
  const { w, connectionId, link, razorpay } = await start()
  const { id, theirs } = await link()
  const payment = razorpay.pay(theirs)
  const entities = { payment_link: theirs, payment, order: { id: 'order_1', entity: 'order' } }
  for (const event of ['payment.captured', 'order.paid', 'payment_link.paid', 'payment.captured']) {
    t.is((await razorpay.deliver(w.visitor, connectionId, event, entities)).status, 200)
  }
  await w.drain()
  t.like(await linkOf(w.org, id), { status: 'paid', amount: '100.00' })
  const records = await recordsOf(w.org)
  t.is(records.length, 1)
  t.like(records[0].values, { provider: 'razorpay', reference: payment.id, payer_email: 'gaurav@example.com' })
  payment.amount_refunded = 4_000
  await razorpay.deliver(w.visitor, connectionId, 'refund.processed', { payment })
  await razorpay.deliver(w.visitor, connectionId, 'payment.dispute.created', {
    dispute: { id: 'disp_1', payment_id: payment.id, status: 'open' },
  })
  await w.drain()
  t.deepEqual((await storyOf(w.org, id)).slice(-2), ['webhook: refunded (paid > paid)', 'webhook: disputed (paid > paid)'])
})

test('razorpay: a repeated event is recognized by its id or its bytes; the id is not signed and cannot hide another event', async (t) => {
  const { w, connectionId, link, razorpay } = await start()
  const [one, other] = [await link(), await link()]
  const first = { payment_link: one.theirs, payment: razorpay.pay(one.theirs) }
  for (let time = 0; time < 20; time++) await razorpay.deliver(w.visitor, connectionId, 'payment_link.paid', first, { id: '' })
  const second = { payment_link: other.theirs, payment: razorpay.pay(other.theirs) }
  await razorpay.deliver(w.visitor, connectionId, 'payment.failed', { payment: { id: 'pay_0', status: 'failed' } }, { id: 'taken' })
  await razorpay.deliver(w.visitor, connectionId, 'payment_link.paid', second, { id: 'taken' })
  const others = await Promise.all([link(), link(), link(), link()])
  const atOnce = others.map(({ theirs }) => ({ payment: razorpay.pay(theirs) }))
  await Promise.all(atOnce.map((entities) => razorpay.deliver(w.visitor, connectionId, 'payment.captured', entities, { id: 'shared' })))
  await w.drain()
  for (const { id } of [one, other, ...others]) t.is((await linkOf(w.org, id)).status, 'paid')
  t.is((await recordsOf(w.org)).length, 6)
  t.is((await razorpay.deliver(w.visitor, connectionId, 'payment_link.paid', second, { secret: 'other' })).status, 400)
})

test('razorpay: partial and wrong amounts change nothing; a link that ends at the provider ends in Kontor', async (t) => {
  const { w, connectionId, link, razorpay } = await start()
  const [partly, cancelled, expired] = [await link(), await link(), await link()]
  const payment = razorpay.pay(partly.theirs, { amount: 100 })
  await razorpay.deliver(w.visitor, connectionId, 'payment_link.partially_paid', { payment_link: partly.theirs, payment })
  await razorpay.deliver(w.visitor, connectionId, 'payment_link.cancelled', { payment_link: { ...cancelled.theirs, status: 'cancelled' } })
  await razorpay.deliver(w.visitor, connectionId, 'payment_link.expired', { payment_link: { ...expired.theirs, status: 'expired' } })
  await w.drain()
  t.is((await linkOf(w.org, partly.id)).status, 'created')
  t.is((await linkOf(w.org, cancelled.id)).status, 'cancelled')
  t.is((await linkOf(w.org, expired.id)).status, 'expired')
  t.deepEqual(await recordsOf(w.org), [])
})

test('razorpay: a link whose creation was not answered is found by its reference; refresh, sweep and cancel work', async (t) => {
  const { w, connectionId, link, razorpay } = await start()
  const at = `${paymentsOf(w.org)}/links`
  razorpay.fault.path = /POST \/v1\/payment_links$/
  razorpay.fault.when = 'after'
  const body = { connection_id: connectionId, amount: 3, currency: 'INR' }
  const made = await w.org.owner.post(at, body)
  razorpay.fault.when = 'never'
  t.is(made.status, 201, made.text)
  t.is(razorpay.things.links.filter(({ reference_id }) => reference_id === made.data.id).length, 1)
  const [asked, swept, ended] = [await link(), await link(), await link()]
  razorpay.pay(asked.theirs)
  t.is((await w.org.owner.post(`${at}/${asked.id}/refresh`)).data.status, 'paid')
  razorpay.pay(swept.theirs)
  await letDue(w, 6)
  t.is((await linkOf(w.org, swept.id)).status, 'paid')
  t.is((await w.org.owner.post(`${at}/${ended.id}/cancel`)).data.status, 'cancelled')
  t.is(ended.theirs.status, 'cancelled')
  const paid = await link()
  razorpay.pay(paid.theirs)
  const refused = await w.org.owner.post(`${at}/${paid.id}/cancel`)
  t.is(refused.status, 400, 'it was paid before anybody knew')
  t.is((await linkOf(w.org, paid.id)).status, 'paid')
  t.is((await recordsOf(w.org)).length, 3)
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/connections/${connectionId}/test`)).data.status, 'ok')
})
