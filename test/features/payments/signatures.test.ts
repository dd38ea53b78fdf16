import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import type { Provider, ProviderAccount } from '#shared/features/payments/providers/provider.ts'
import { razorpay } from '#shared/features/payments/providers/razorpay.ts'
import { sandbox, signedHeaders } from '#shared/features/payments/providers/sandbox.ts'
import { stripe } from '#shared/features/payments/providers/stripe.ts'
import { signature } from '#test/features/payments/stripe-stand-in.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../fixtures/payments/${name}.json`, import.meta.url), 'utf8'))
const [theirStripe, theirRazorpay] = [read('stripe'), read('razorpay')]

const now = new Date('2026-11-21T12:00:00.400Z')
const seconds = Math.floor(now.getTime() / 1_000)

/** Whether a provider takes bytes with these headers under this secret. */
function takes(provider: Provider, secret: string, bytes: string | Buffer, headers: Readonly<Record<string, string>>): boolean {
  const account = { credentials: { webhook_secret: secret }, now: () => now } as unknown as ProviderAccount
  const header = (name: string) => headers[name.toLowerCase()] ?? ''
  return provider.verifyDelivery(account, { bytes: Buffer.from(bytes), header }) !== undefined
}

test('signatures: Stripe’s are checked by the rules of its SDK, and a future time is refused too', (t) => {
  const { test_secret_used_upstream: secret, test_payload_used_upstream: payload } = theirStripe.webhook_signature
  const right = signature(payload, secret, seconds)
  const v1 = right.split('v1=')[1] ?? ''
  const v0 = `t=${seconds},v0=${v1}`
  const cases: [string, boolean, (string | Buffer)?][] = [
    [right, true],
    [`t=${seconds},v1=${'0'.repeat(64)},v1=${v1}`, true],
    [`t=${seconds}, v1=${v1}, v0=abc`, true],
    [v0, false],
    [`v1=${v1}`, false],
    [`t=${seconds}`, false],
    ['', false],
    ['nonsense', false],
    [`t=${seconds},v1=${v1.toUpperCase()}`, false],
    [`t=${seconds},v1=${v1.slice(0, -1)}`, false],
    [`t=${seconds},v1=`, false],
    [`t=${seconds + 1},v1=${v1}`, false],
    [signature(payload, 'whsec_other', seconds), false],
    [signature(payload, secret, seconds - 300), true],
    [signature(payload, secret, seconds - 301), false],
    [signature(payload, secret, seconds + 300), true],
    [signature(payload, secret, seconds + 301), false],
    [right, false, JSON.stringify(JSON.parse(payload))],
    [right, false, `${payload} `],
    [signature('', secret, seconds), true, ''],
    [right, false, ''],
    [signature(`\uFEFF${payload}`, secret, seconds), true, `\uFEFF${payload}`],
    [right, false, `\uFEFF${payload}`],
    [signature(Buffer.from([0xff, 0xfe, 0]), secret, seconds), true, Buffer.from([0xff, 0xfe, 0])],
  ]
  for (const [given, expected, bytes = payload] of cases) t.is(takes(stripe, secret, bytes, { 'stripe-signature': given }), expected, given)
})

test('signatures: Razorpay’s match the vectors of its SDK', (t) => {
  for (const { body, secret, signature: given, valid } of theirRazorpay.webhook_signature.vectors) {
    t.is(takes(razorpay, secret, body, { 'x-razorpay-signature': given }), valid)
    t.is(takes(razorpay, `${secret}7`, body, { 'x-razorpay-signature': given }), false)
    t.is(takes(razorpay, secret, `${body} `, { 'x-razorpay-signature': given }), false)
    t.is(takes(razorpay, secret, body, { 'x-razorpay-signature': `0000,${given}` }), valid)
  }
  t.false(takes(razorpay, '123456', '{}', {}))
})

test('signatures: the sandbox signs id, time and bytes as Standard Webhooks specifies', (t) => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
  const body = '{"id":"evt_1"}'
  const headers = (at = now) => signedHeaders({ webhook_secret: secret }, 'evt_1', body, at)
  const expected = createHmac('sha256', 'a secret of thirty-two bytes ...').update(`evt_1.${seconds}.${body}`).digest('base64')
  t.is(headers()['webhook-signature'], `v1,${expected}`)
  const at = (offset: number) => headers(new Date(now.getTime() + offset * 1_000))
  t.true(takes(sandbox, secret, body, headers()))
  t.true(takes(sandbox, secret, body, { ...headers(), 'webhook-signature': `v1,AAAA v1,${expected}` }))
  t.true(takes(sandbox, secret, body, at(300)))
  t.false(takes(sandbox, secret, body, at(301)))
  t.false(takes(sandbox, secret, body, at(-301)))
  t.false(takes(sandbox, secret, body, { ...headers(), 'webhook-id': 'evt_2' }))
  t.false(takes(sandbox, secret, body, { ...headers(), 'webhook-timestamp': String(seconds + 1) }))
  t.false(takes(sandbox, secret, body, { ...headers(), 'webhook-signature': expected }))
  t.false(takes(sandbox, secret, `${body}\n`, headers()))
})

test('signatures: example objects of the providers are parsed correctly', (t) => {
  const { objects, routes, event_types } = theirStripe
  const factsOf = (object: object) => stripe.readEvent(Buffer.from(JSON.stringify({ ...objects.event, data: { object } })))
  t.like(factsOf(objects['checkout.session']).payments, [{ id: objects['checkout.session'].payment_intent, state: 'unpaid' }])
  t.like(factsOf({ ...objects['checkout.session'], payment_status: 'paid', amount_total: 1_250, currency: 'usd' }), {
    payments: [{ state: 'paid', amount: '12.5', currency: 'USD', payerEmail: 'example@example.com' }],
  })
  t.like(factsOf(objects.payment_intent).payments, [{ id: objects.payment_intent.id, state: 'unpaid', amount: '10.99', currency: 'USD' }])
  t.deepEqual(factsOf(objects.charge).payments, [], 'a charge without a payment is of no link')
  t.like(
    factsOf({ ...objects.charge, payment_intent: 'pi_1', captured: true, amount_captured: 100, amount_refunded: 40, disputed: true }),
    {
      payments: [{ id: 'pi_1', state: 'paid', amount: '1', refunded: '0.4', disputed: true, payerName: 'Jenny Rosen' }],
    },
  )
  t.like(factsOf({ ...objects.refund, payment_intent: 'pi_1' }).payments, [{ id: 'pi_1', state: null, refunded: '1' }])
  t.like(factsOf(objects.payment_link), { providerLinkId: objects.payment_link.id, ended: null })
  t.is(factsOf({ ...objects.payment_link, active: false }).ended, 'cancelled')
  t.deepEqual(stripe.readEvent(Buffer.from('{}')).payments, [])
  const published = new Set(routes.map(([method, path]: [string, string]) => `${method} ${path}`))
  for (const called of ['GET /v1/events', 'GET /v1/payment_links', 'POST /v1/payment_links', 'GET /v1/checkout/sessions'])
    t.true(published.has(called))
  t.true(event_types.includes('checkout.session.async_payment_succeeded'))
  const { mocks } = theirRazorpay
  const body = (payload: object) => Buffer.from(JSON.stringify({ entity: 'event', payload }))
  t.like(razorpay.readEvent(body({ payment_link: { entity: mocks.cancel_payment_link } })), {
    ended: 'cancelled',
    providerLinkId: 'plink_Fo4oI0cXjpQIz3',
  })
  t.is(razorpay.readEvent(body({ payment_link: { entity: mocks.fake_payment_link } })).ended, null)
  t.like(razorpay.readEvent(Buffer.from(JSON.stringify(mocks.fake_payment_authorized_webhook))).payments, [
    { id: 'pay_6koWN7bvxujzxM', state: 'paid', amount: '10000', currency: 'INR', payerEmail: 'a@b.com', refunded: '0' },
  ])
})
