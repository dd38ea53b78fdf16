import test from 'ava'
import { connect, linkOf, makeLink, paymentsOf, recordsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { expireLinks } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'
import { registry, watchInstallation } from '#workers/metrics.ts'

const newWorkspace = shareProviders(test)

const start = async () => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const connectionId = await connect(w.org, 'stripe', stripe.credentials)
  const deliver = async (event: object | undefined, options: object = {}, to = connectionId) => {
    const answer = await stripe.deliver(w.visitor, to, event ?? {}, options)
    if (answer.status !== 200) throw new Error(answer.text)
    await w.drain()
  }
  const link = async (more: object = {}) => {
    const made = await makeLink(w.org, connectionId, more)
    const theirs = stripe.things.links.find(({ metadata }) => (metadata as { kontor_link: string }).kontor_link === made.id)
    return { ...made, theirs: theirs?.id ?? '' }
  }
  return { w, stripe, connectionId, deliver, link }
}

test('stripe: a link is created as Stripe documents it, for one payment, with Kontor’s id and a pinned version', async (t) => {
  const { w, stripe, connectionId } = await start()
  const link = await makeLink(w.org, connectionId, {
    amount: '12.50',
    description: 'Two chairs',
    customer_email: 'pia+1@example.com',
    redirect_url: 'https://shop.example/thanks',
  })
  const call = stripe.calls.findLast(({ method, path }) => method === 'POST' && path === '/v1/payment_links')
  t.regex(call?.version ?? '', /^\d{4}-\d\d-\d\d\.\w+$/)
  t.deepEqual(Object.fromEntries(call?.body ?? []), {
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '1250',
    'line_items[0][price_data][product_data][name]': 'Two chairs',
    'line_items[0][quantity]': '1',
    'restrictions[completed_sessions][limit]': '1',
    'metadata[kontor_link]': link.id,
    'payment_intent_data[metadata][kontor_link]': link.id,
    'after_completion[type]': 'redirect',
    'after_completion[redirect][url]': 'https://shop.example/thanks',
  })
  t.regex(link.short_url, /^https:\/\/buy\.stripe\.example\/\w+\?prefilled_email=pia%2B1%40example\.com$/)
  t.deepEqual(await storyOf(w.org, link.id), ['person: created (null > created)'])
})

test('stripe: a completed session is not paid yet, and its payment may fail', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const { id, theirs } = await link()
  const session = stripe.open(theirs)
  await deliver(stripe.pay(session, { later: true }).completed)
  t.is((await linkOf(w.org, id)).status, 'created')
  await deliver(stripe.settle(session, false).session)
  t.is((await linkOf(w.org, id)).status, 'created')
  t.deepEqual(await recordsOf(w.org), [])
  t.deepEqual(await storyOf(w.org, id), [
    'person: created (null > created)',
    'webhook: unpaid (created > created)',
    'webhook: unpaid (created > created)',
  ])
})

test('stripe: a payment creates a payments record with payer, amount and link', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const { id: invoiceId } = (await w.org.owner.post(`${w.org.path}/records/invoices`, { values: { total: { amount: 100, code: 'EUR' } } }))
    .data
  const { id, theirs } = await link({ amount: undefined, currency: undefined, invoice_id: invoiceId })
  const { completed, intent } = stripe.pay(stripe.open(theirs))
  await deliver(completed)
  const paid = await linkOf(w.org, id)
  const [record] = await recordsOf(w.org)
  t.like(paid, { status: 'paid', payment_record_id: record.id, amount: '100.00', currency: 'EUR' })
  t.is(record.created_by, null)
  t.is(Date.parse(record.values.paid_at), Date.parse(paid.paid_at))
  t.like(record.values, {
    amount: { amount: 100, code: 'EUR' },
    invoice_id: invoiceId,
    provider: 'stripe',
    reference: intent.id,
    link_id: id,
    payer_name: 'Pia Payer',
    payer_email: 'pia@example.com',
  })
  t.is((await w.org.owner.get(`${w.org.path}/records/invoices/${invoiceId}`)).data.values.status, 'draft', 'the invoice is not closed')
})

test('stripe: events of other links change nothing', async (t) => {
  const { w, stripe, connectionId, deliver, link } = await start()
  const [one, other] = [await link(), await link()]
  await deliver(stripe.pay(stripe.open(one.theirs), { amount: 100 }).completed)
  await deliver(stripe.pay(stripe.open(one.theirs), { currency: 'eur' }).completed)
  const mixed = stripe.open(other.theirs)
  await deliver(stripe.pay({ ...mixed, metadata: { kontor_link: one.id } }).completed)
  const second = await start()
  await second.deliver(stripe.pay(stripe.open(one.theirs)).completed, { secret: second.stripe.webhookSecret })
  const forged = stripe.pay(stripe.open(one.theirs)).completed
  t.is((await stripe.deliver(w.visitor, connectionId, forged, { secret: 'whsec_of_somebody_else' })).status, 400)
  await w.drain()
  for (const { id } of [one, other]) t.is((await linkOf(w.org, id)).status, 'created')
  t.deepEqual(await recordsOf(w.org), [])
  t.deepEqual((await storyOf(w.org, one.id)).slice(1), Array(2).fill('webhook: amount_differs (created > created)'))
  t.deepEqual((await storyOf(w.org, other.id)).length, 1)
})

test('stripe: an event is processed once, and its replays change nothing', async (t) => {
  const { w, stripe, connectionId, link } = await start()
  const { id, theirs } = await link()
  const { completed } = stripe.pay(stripe.open(theirs))
  const answers = await Promise.all(Array.from({ length: 100 }, () => stripe.deliver(w.visitor, connectionId, completed)))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  await w.drain()
  t.is((await recordsOf(w.org)).length, 1)
  t.deepEqual(await storyOf(w.org, id), ['person: created (null > created)', 'webhook: paid (created > paid)'])
  t.is(await countRows(w.db, 'payment_events', w.org.id), 1)
  t.is((await stripe.deliver(w.visitor, connectionId, completed, { secret: 'wrong' })).status, 400)
  // A process counts the rows of the world that was started last, which may be another file's.
  t.teardown(watchInstallation(w.worker.database, w.worker.processId, w.api.services.log))
  const metrics = (await w.visitor.get('/metrics')).text + (await registry.metrics())
  const figure = (name: string) =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`kontor_payment_${name} `))
        ?.split(' ')[1] ?? 0,
    )
  t.true(figure('webhooks_total{outcome="new"}') >= 1 && figure('webhooks_total{outcome="refused"}') >= 1)
  t.true(figure('webhooks_total{outcome="repeated"}') >= 99)
  t.true(figure('links{state="paid"}') >= 1)
  t.true(figure('sweep_lag_seconds{provider="stripe"}') > 0)
})

test('stripe: a payment after a cancellation is recorded, and payment managers are notified', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const manager = await createMember(w, w.org, [{ effect: 'allow', actions: ['payments:manage'] }])
  const reader = await createMember(w, w.org, [{ effect: 'allow', actions: ['payments:read'] }])
  const { id, theirs } = await link()
  const session = stripe.open(theirs)
  const from = stripe.calls.length
  const cancelled = await w.org.owner.post(`${paymentsOf(w.org)}/links/${id}/cancel`)
  t.is(cancelled.status, 200, cancelled.text)
  t.is(cancelled.data.status, 'cancelled')
  const writes = stripe.calls.slice(from).flatMap(({ method, path }) => (method === 'POST' ? [path] : []))
  t.deepEqual(writes, [`/v1/payment_links/${theirs}`, `/v1/checkout/sessions/${session.id}/expire`])
  t.is(stripe.things.links.find((one) => one.id === theirs)?.active, false)
  t.is(session.status, 'expired')
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/links/${id}/cancel`)).status, 200, 'again changes nothing')
  await deliver(stripe.pay(session).completed)
  t.is((await linkOf(w.org, id)).status, 'paid')
  const [record] = await recordsOf(w.org)
  for (const { client } of [manager, { client: w.org.owner }]) {
    const { notifications } = (await client.get(`${w.org.path}/notifications`)).data
    t.deepEqual(
      notifications.map(({ event, object_type, record_id }: Record<string, string>) => [event, object_type, record_id]),
      [['payment.paid_late', 'payments', record.id]],
    )
  }
  t.is((await reader.client.get(`${w.org.path}/notifications/unread-count`)).data.count, 0)
  t.deepEqual((await storyOf(w.org, id)).slice(1), ['person: cancelled (created > cancelled)', 'webhook: paid_late (cancelled > paid)'])
  const refused = await w.org.owner.post(`${paymentsOf(w.org)}/links/${id}/cancel`)
  t.is(refused.status, 400, refused.text)
})

test('stripe: a second payment of a link creates a second record and a notice; a refund and a dispute only a notice', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const { id, theirs } = await link()
  const [first, second] = [stripe.open(theirs), stripe.open(theirs)]
  await deliver(stripe.pay(first).completed)
  const before = await linkOf(w.org, id)
  await deliver(stripe.pay(second).completed)
  await deliver(stripe.refund(second))
  await deliver(stripe.dispute(first))
  t.deepEqual(await linkOf(w.org, id), before)
  t.is((await recordsOf(w.org)).length, 2)
  t.deepEqual((await storyOf(w.org, id)).slice(1), [
    'webhook: paid (created > paid)',
    'webhook: paid_again (paid > paid)',
    'webhook: refunded (paid > paid)',
    'webhook: disputed (paid > paid)',
  ])
  const { notifications } = (await w.org.owner.get(`${w.org.path}/notifications`)).data
  t.deepEqual(
    notifications.map(({ event }: { event: string }) => event),
    ['payment.paid_again'],
  )
})

test('stripe: a refund and a dispute that arrive before their payment are notified once the payment arrives', async (t) => {
  const { w, stripe, connectionId, deliver, link } = await start()
  const { id, theirs } = await link()
  const session = stripe.open(theirs)
  const { completed, intent } = stripe.pay(session)
  await deliver(stripe.dispute(session))
  await deliver(
    stripe.emit('refund.created', { object: 'refund', payment_intent: intent.id, amount: 500, currency: 'usd', status: 'succeeded' }),
  )
  t.is((await linkOf(w.org, id)).status, 'created')
  await deliver(completed)
  t.deepEqual((await storyOf(w.org, id)).slice(1), [
    'webhook: paid (created > paid)',
    'webhook: refunded (paid > paid)',
    'webhook: disputed (paid > paid)',
  ])
  for (let round = 0; round < 5; round++) {
    const other = await link()
    const open = stripe.open(other.theirs)
    const events = [stripe.pay(open).completed, stripe.dispute(open)]
    await Promise.all(events.map((event) => stripe.deliver(w.visitor, connectionId, event)))
    await w.drain()
    const later = (await storyOf(w.org, other.id)).slice(1).map((line) => line.split(' ')[1])
    t.deepEqual(later, ['paid', 'disputed'])
  }
})

test('stripe: provider text that PostgreSQL cannot store does no harm', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const { id, theirs } = await link()
  const session = stripe.open(theirs)
  session.customer_details = { name: 'Pia\0 Payer', email: 'pia@example.com' }
  const { completed } = stripe.pay(session)
  await deliver({ ...completed, id: 'evt_\0' })
  t.is((await recordsOf(w.org))[0].values.payer_name, 'Pia Payer')
  for (const strange of ['\0', 'x'.repeat(100_000)]) await deliver({ ...completed, id: strange })
  t.is((await linkOf(w.org, id)).status, 'paid')
  t.is((await recordsOf(w.org)).length, 1)
})

test('stripe: a link that its provider closes after its expiry has expired', async (t) => {
  const { w, stripe, deliver, link } = await start()
  const [over, open] = [await link(), await link()]
  await expireLinks(w.db, over)
  for (const { theirs } of [over, open]) {
    const closed = stripe.things.links.find(({ id }) => id === theirs)
    await deliver(stripe.emit('payment_link.updated', { ...closed, active: false }))
  }
  t.is((await linkOf(w.org, over.id)).status, 'expired')
  t.is((await linkOf(w.org, open.id)).status, 'cancelled')
})
