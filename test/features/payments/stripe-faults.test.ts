import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, recordsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { ageLink, expireLinks, letExpiryDue } from '#test/features/payments/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { retryJobsNow } from '#test/support/rows.ts'

const newWorkspace = shareProviders(test)

const start = async () => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const connectionId = await connect(w.org, 'stripe', stripe.credentials)
  return {
    w,
    stripe,
    connectionId,
    links: `${paymentsOf(w.org)}/links`,
    body: { connection_id: connectionId, amount: '100', currency: 'USD' },
  }
}

test('stripe faults: a creation whose answer was lost is repeated and creates no second link', async (t) => {
  const { w, stripe, links, body } = await start()
  stripe.fault.path = /POST \/v1\/payment_links$/
  stripe.fault.when = 'after'
  const request = w.org.owner.post(links, body, { 'Idempotency-Key': 'one' })
  await eventually(() => stripe.calls.some(({ method }) => method === 'POST'))
  stripe.fault.when = 'never'
  const made = await request
  t.is(made.status, 201, made.text)
  t.is(stripe.things.links.length, 1)
  t.is(made.data.short_url, `${stripe.things.links[0]?.url}`)
})

test('stripe faults: a creation without an answer is 500, its row stays, and the same Idempotency-Key finds the link', async (t) => {
  const { w, stripe, links, body } = await start()
  stripe.fault.path = /\/v1\//
  stripe.fault.when = 'after'
  const key = { 'Idempotency-Key': 'two' }
  const failed = await w.org.owner.post(links, body, key)
  t.is(failed.status, 500, failed.text)
  const [row] = (await w.org.owner.get(links)).data
  t.like(row, { status: 'created', short_url: '', amount: '100.00' })
  stripe.fault.when = 'never'
  const again = await w.org.owner.post(links, body, key)
  t.is(again.status, 201, again.text)
  t.is(again.data.id, row.id)
  t.not(again.data.short_url, '')
  t.deepEqual((await w.org.owner.post(links, body, key)).data, again.data)
  t.is(stripe.things.links.length, 1)
  t.is((await w.org.owner.post(links, { ...body, amount: '1' }, key)).status, 400)
  t.is((await w.org.owner.get(links)).data.length, 1)
})

test('stripe faults: a link that is cancelled during its creation is cancelled at the provider too', async (t) => {
  const { w, stripe, links, body } = await start()
  const { promise, resolve } = Promise.withResolvers<void>()
  stripe.fault.path = /POST \/v1\/payment_links$/
  stripe.fault.held = promise
  const request = w.org.owner.post(links, body)
  const { id } = await eventually(async () => (await w.org.owner.get(links)).data[0])
  t.is((await w.org.owner.post(`${links}/${id}/cancel`)).data.status, 'cancelled')
  resolve()
  const made = await request
  t.is(made.status, 201, made.text)
  t.is(made.data.status, 'cancelled')
  await w.drain()
  t.is(stripe.things.links.length, 1)
  t.is(stripe.things.links[0]?.active, false)
  t.is((await linkOf(w.org, id)).status, 'cancelled')
})

test('stripe faults: a link whose creation was not answered is found by a refresh and by the sweep', async (t) => {
  const { w, stripe, links, body } = await start()
  stripe.fault.path = /POST \/v1\/payment_links$|GET \/v1\/events/
  stripe.fault.when = 'after'
  for (const _ of [1, 2]) t.is((await w.org.owner.post(links, body)).status, 500)
  stripe.fault.when = 'never'
  const [second, first] = (await w.org.owner.get(links)).data
  const refreshed = await w.org.owner.post(`${links}/${first.id}/refresh`)
  t.is(refreshed.status, 200, refreshed.text)
  t.not(refreshed.data.short_url, '')
  await ageLink(w.db, second.id, 5)
  await letDue(w, 6)
  t.not((await linkOf(w.org, second.id)).short_url, '')
  t.is(stripe.things.links.length, 2)
  t.deepEqual(await storyOf(w.org, second.id), [...Array(2).fill('person: no_answer (null > created)'), 'sweep: created (null > created)'])
})

test('stripe faults: a refusal of the provider is 400 with its message, and no link is stored', async (t) => {
  const { w, links, stripe, connectionId } = await start()
  const changed = await w.org.owner.patch(`${paymentsOf(w.org)}/connections/${connectionId}`, {
    credentials: { secret_key: 'sk_test_wrong' },
  })
  t.is(changed.status, 200, changed.text)
  const refused = await w.org.owner.post(links, { connection_id: connectionId, amount: '1' })
  t.is(refused.status, 400, refused.text)
  t.regex(refused.body.error.message, /^Stripe refused: Invalid API Key provided/)
  t.false(refused.text.includes('sk_test_wrong'))
  t.deepEqual((await w.org.owner.get(links)).data, [])
  t.is(stripe.calls.length, 0)
})

test('stripe faults: payments without a webhook are found by a refresh and by the sweep, once', async (t) => {
  const { w, stripe, connectionId, links } = await start()
  const made = await Promise.all(Array.from({ length: 100 }, () => makeLink(w.org, connectionId)))
  for (const { metadata: _, id } of [...stripe.things.links]) stripe.pay(stripe.open(id))
  const [first] = made
  for (const _ of [1, 2]) t.is((await w.org.owner.post(`${links}/${first.id}/refresh`)).data.status, 'paid')
  t.deepEqual(await storyOf(w.org, first.id), [
    'person: created (null > created)',
    'refresh: paid (created > paid)',
    'refresh: unchanged (paid > paid)',
  ])
  const before = stripe.calls.length
  await letDue(w, 6)
  t.true(stripe.calls.length - before < 30, `${stripe.calls.length - before} calls`)
  t.is((await recordsOf(w.org)).length, 100)
  t.deepEqual((await w.org.owner.get(`${paymentsOf(w.org)}/overview`)).data.links, { created: 0, paid: 100, cancelled: 0, expired: 0 })
  t.deepEqual((await storyOf(w.org, made[1].id)).slice(1), ['sweep: paid (created > paid)'])
  await letDue(w, 12)
  t.is((await recordsOf(w.org)).length, 100)
})

test('stripe faults: a link that expires ends at the provider and in Kontor, unless it was paid', async (t) => {
  const { w, stripe, connectionId } = await start()
  const [paid, open] = [await makeLink(w.org, connectionId), await makeLink(w.org, connectionId)]
  const theirsOf = (id: string) => stripe.things.links.find(({ metadata }) => (metadata as { kontor_link: string }).kontor_link === id)
  stripe.pay(stripe.open(theirsOf(paid.id)?.id ?? ''))
  const session = stripe.open(theirsOf(open.id)?.id ?? '')
  await expireLinks(w.db, { workspaceId: w.org.id })
  await letDue(w, 31 * 24 * 60)
  t.is((await linkOf(w.org, paid.id)).status, 'paid')
  t.is((await linkOf(w.org, open.id)).status, 'expired')
  t.is(theirsOf(open.id)?.active, false)
  t.is(session.status, 'expired')
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/links/${open.id}/cancel`)).status, 400)
  t.deepEqual((await storyOf(w.org, open.id)).slice(1), ['sweep: expired (created > expired)'])
})

test('stripe faults: a link expires in Kontor even if its provider does not answer, and ends there later', async (t) => {
  const { w, stripe, connectionId } = await start()
  const { id } = await makeLink(w.org, connectionId)
  await expireLinks(w.db, { id })
  await letExpiryDue(w.db, id)
  stripe.fault.when = 'before'
  await letDue(w, 1)
  t.is((await linkOf(w.org, id)).status, 'expired')
  stripe.fault.when = 'never'
  await retryJobsNow(w.db, 'payments.expire-link')
  await w.drain()
  t.is(stripe.things.links[0]?.active, false)
})
