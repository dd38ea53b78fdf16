import { createHmac, randomUUID } from 'node:crypto'
import test from 'ava'
import { letDue } from '#test/features/payments/due.ts'
import { connect, linkOf, makeLink, paymentsOf, storyOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { readCredentials } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'

const newWorkspace = shareProviders(test)

const razorpay = { key_id: 'rzp_test_1', key_secret: 'secret', webhook_secret: 'hook' }

test('connections: a connection is created, read, changed, listed and deleted, and shows no credential', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const at = `${paymentsOf(w.org)}/connections`
  const credentials = { secret_key: 'sk_test_planted', webhook_secret: 'whsec_planted' }
  const made = await owner.post(at, {
    provider: 'stripe',
    name: 'Shop',
    mode: 'test',
    redirect_url: 'https://shop.example/done',
    credentials,
  })
  t.is(made.status, 201, made.text)
  const misspelled = await owner.post(at, {
    provider: 'stripe',
    name: 'Shop',
    mode: 'test',
    credentials: { ...credentials, secret_kex: 'x' },
  })
  t.is(misspelled.body.error.message, 'credentials.secret_kex is no key of the credentials of stripe; did you mean secret_key?')
  t.like(made.data, { provider: 'stripe', name: 'Shop', mode: 'test', redirect_url: 'https://shop.example/done', status: 'unchecked' })
  t.is(made.data.last_checked_at, null)
  t.true(made.data.webhook_url.endsWith(`/webhooks/payments/${made.data.id}`))
  t.false('last_error' in made.data)
  t.deepEqual((await owner.get(`${at}/${made.data.id}`)).data, made.data)
  const changed = await owner.patch(`${at}/${made.data.id}`, {
    name: 'Store',
    redirect_url: null,
    credentials: { webhook_secret: 'whsec_other' },
  })
  t.is(changed.status, 200, changed.text)
  t.like(changed.data, { name: 'Store', redirect_url: null, status: 'unchecked' })
  t.is((await owner.patch(`${at}/${made.data.id}`, {})).status, 200)
  const second = await connect(w.org, 'razorpay', razorpay)
  const list = await owner.get(at)
  t.deepEqual(
    list.data.map(({ id }: { id: string }) => id),
    [made.data.id, second],
  )
  for (const { text } of [made, changed, list]) t.notRegex(text, /planted|whsec|credentials|secret/)
  t.is((await owner.delete(`${at}/${made.data.id}`)).status, 204)
  for (const id of [made.data.id, randomUUID(), 'nonsense']) {
    t.is((await owner.get(`${at}/${id}`)).status, 404)
    t.is((await owner.patch(`${at}/${id}`, { name: 'x' })).status, 404)
    t.is((await owner.delete(`${at}/${id}`)).status, 404)
    t.is((await owner.post(`${at}/${id}/test`)).status, 404)
  }
  t.is((await owner.get(at)).data.length, 1)
})

test('connections: an invalid connection is 400, and the error names the field', async (t) => {
  const w = await newWorkspace()
  const at = `${paymentsOf(w.org)}/connections`
  const right = { provider: 'razorpay', name: 'Main', mode: 'test', credentials: razorpay }
  const wrong: [object, string][] = [
    [{ provider: 'paypal' }, 'provider'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(121) }, 'name'],
    [{ name: undefined }, 'name'],
    [{ mode: 'both' }, 'mode'],
    [{ mode: undefined }, 'mode'],
    [{ redirect_url: '/done' }, 'redirect_url'],
    [{ redirect_url: 'javascript:alert(1)' }, 'redirect_url'],
    [{ redirect_url: `https://shop.example/${'x'.repeat(2_000)}` }, 'redirect_url'],
    [{ credentials: 'secret' }, 'credentials'],
    [{ credentials: undefined }, 'credentials.key_id'],
    [{ credentials: { ...razorpay, key_secret: undefined } }, 'credentials.key_secret'],
    [{ credentials: { ...razorpay, webhook_secret: null } }, 'credentials.webhook_secret'],
    [{ credentials: { ...razorpay, key_id: '' } }, 'credentials.key_id'],
    [{ credentials: { ...razorpay, key_id: 7 } }, 'credentials.key_id'],
    [{ credentials: { ...razorpay, key_id: 'x'.repeat(501) } }, 'credentials.key_id'],
    [{ credentials: { ...razorpay, key_id: 'a\r\nb' } }, 'credentials.key_id'],
    [{ provider: 'sandbox', mode: 'live' }, 'mode'],
  ]
  for (const [change, field] of wrong) {
    const { status, body, text } = await w.org.owner.post(at, { ...right, ...change })
    t.is(status, 400, text)
    t.true(body.error.message.startsWith(field), text)
  }
  t.is((await w.org.owner.post(at, { ...right, credentials: { ...razorpay, key_id: 'x'.repeat(500) } })).status, 201)
  const sandbox = await connect(w.org, 'sandbox')
  t.is((await w.org.owner.patch(`${at}/${sandbox}`, { mode: 'live' })).status, 400)
  t.is((await w.org.owner.post(at, { provider: 'sandbox', name: 'x', mode: 'test' })).status, 201)
})

test('connections: a test returns the provider’s answer to the credentials', async (t) => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const at = `${paymentsOf(w.org)}/connections/${await connect(w.org, 'stripe', stripe.credentials)}`
  const check = async () => {
    const { status, data, text } = await w.org.owner.post(`${at}/test`)
    t.is(status, 200, text)
    return data
  }
  const ok = await check()
  t.is(ok.status, 'ok')
  t.not(ok.last_checked_at, null)
  t.deepEqual((await w.org.owner.get(at)).data, ok)
  stripe.fault.when = 'before'
  t.like(await check(), { status: 'failed', last_error: (await check()).last_error })
  t.regex((await check()).last_error, /^Stripe did not answer/)
  stripe.fault.when = 'never'
  t.is((await check()).status, 'ok')
  t.is((await w.org.owner.patch(at, { credentials: { secret_key: 'sk_live_other' } })).data.status, 'unchecked')
  t.regex((await check()).last_error, /is a live key/)
  await w.org.owner.patch(at, { credentials: { secret_key: 'sk_test_other', webhook_secret: 'redacted' } })
  const refused = await check()
  t.is(refused.status, 'failed')
  t.regex(refused.last_error, /^Stripe refused: Invalid API Key provided: Bearer \[redacted\]/)
  const sandbox = `${paymentsOf(w.org)}/connections/${await connect(w.org, 'sandbox')}`
  t.is((await w.org.owner.post(`${sandbox}/test`)).data.status, 'ok')
})

test('connections: a replaced secret is refused', async (t) => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const id = await connect(w.org, 'stripe', stripe.credentials)
  const event = stripe.emit('customer.created', { id: 'cus_1', object: 'customer' })
  t.is((await stripe.deliver(w.visitor, id, event)).status, 200)
  await w.org.owner.patch(`${paymentsOf(w.org)}/connections/${id}`, { credentials: { webhook_secret: 'whsec_new' } })
  t.is((await stripe.deliver(w.visitor, id, event)).status, 400)
  t.is((await stripe.deliver(w.visitor, id, event, { secret: 'whsec_new' })).status, 200)
})

test('connections: the deletion of a connection cancels its open links at the provider, and all stay readable', async (t) => {
  const w = await newWorkspace()
  const stripe = w.stripe.account()
  const id = await connect(w.org, 'stripe', stripe.credentials)
  const [open, paid] = [await makeLink(w.org, id), await makeLink(w.org, id)]
  const [theirs] = stripe.things.links
  const { completed } = stripe.pay(stripe.open(theirs?.id ?? ''))
  await stripe.deliver(w.visitor, id, completed)
  await w.drain()
  t.is((await linkOf(w.org, paid.id)).status, 'paid')
  t.is((await w.org.owner.delete(`${paymentsOf(w.org)}/connections/${id}`)).status, 204)
  await w.drain()
  t.is((await linkOf(w.org, open.id)).status, 'cancelled')
  t.deepEqual((await storyOf(w.org, open.id)).at(-1), 'person: cancelled (created > cancelled)')
  t.is((await linkOf(w.org, paid.id)).status, 'paid')
  t.false(stripe.things.links.some(({ active, id }) => active === true && id !== theirs?.id))
  t.is((await stripe.deliver(w.visitor, id, completed)).status, 404)
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/links`, { connection_id: id, amount: 1 })).status, 404)
  t.is((await w.org.owner.post(`${paymentsOf(w.org)}/links/${paid.id}/refresh`)).status, 400)
  t.is(await readCredentials(w.db, id), null)
  const calls = stripe.calls.length
  await letDue(w, 60)
  t.is(stripe.calls.length, calls, 'it is asked no more')
})

test('connections: a caller that may only read or collect cannot open or change a connection', async (t) => {
  const w = await newWorkspace()
  const id = await connect(w.org, 'sandbox')
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['payments:read', 'payments:collect'] }])
  const at = `${paymentsOf(w.org)}/connections`
  t.is((await client.get(at)).data.length, 1)
  const answers = [
    client.get(`${at}/${id}`),
    client.post(at, {}),
    client.patch(`${at}/${id}`, {}),
    client.delete(`${at}/${id}`),
    client.post(`${at}/${id}/test`),
  ]
  for (const { status } of await Promise.all(answers)) t.is(status, 403)
})

test('connections: another mode or account drops the credentials that are not sent with it, and nothing is verified without them', async (t) => {
  const w = await newWorkspace()
  const at = `${paymentsOf(w.org)}/connections`
  const removed = (names: string) => [
    `The change removed ${names}, which belonged to another mode or account: send the new ones in credentials`,
  ]
  const stripe = await connect(w.org, 'stripe', { secret_key: 'sk_test_planted', webhook_secret: 'whsec_planted' })
  const live = await w.org.owner.patch(`${at}/${stripe}`, { mode: 'live' })
  t.deepEqual([live.status, live.data.warnings], [200, removed('secret_key, webhook_secret')])
  const checked = await w.org.owner.post(`${at}/${stripe}/test`)
  t.like(checked.data, { status: 'failed', last_error: 'the connection has no secret_key: send it in credentials' })
  const time = Math.floor(Date.now() / 1_000)
  const body = JSON.stringify({ id: 'evt_1', type: 'checkout.session.completed', created: time, data: { object: { id: 'cs_1' } } })
  const forged = await w.visitor.send('POST', `/webhooks/payments/${stripe}`, body, {
    'content-type': 'application/json',
    'stripe-signature': `t=${time},v1=${createHmac('sha256', '').update(`${time}.${body}`).digest('hex')}`,
  })
  t.is(forged.status, 400, 'an empty secret signs nothing')

  const own = await connect(w.org, 'razorpay', razorpay)
  const same = await w.org.owner.patch(`${at}/${own}`, { credentials: { key_id: razorpay.key_id, key_secret: 'rotated' } })
  t.is(same.data.warnings, undefined, 'the same account')
  const moved = await w.org.owner.patch(`${at}/${own}`, { credentials: { key_id: 'rzp_test_2', key_secret: 'other' } })
  t.deepEqual(moved.data.warnings, removed('webhook_secret'))
  const whole = await w.org.owner.patch(`${at}/${own}`, { mode: 'live', credentials: { ...razorpay, key_id: 'rzp_live_1' } })
  t.is(whole.data.warnings, undefined)
  t.is((await w.org.owner.get(`${at}/${own}`)).data.warnings, undefined)
})
