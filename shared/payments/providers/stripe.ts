import { problem } from '#shared/kernel/errors.ts'
import type { Link } from '#shared/payments/link.ts'
import { callProvider } from '#shared/payments/providers/call.ts'
import { type LinkFacts, noFacts } from '#shared/payments/providers/facts.ts'
import type { Account, MadeLink, Provider, SweptNews } from '#shared/payments/providers/provider.ts'
import { idIn, type Json, jsonOf, objectIn, objectsIn, secondsIn, someText, textIn } from '#shared/payments/providers/reading.ts'
import { hmacOf, isPresent, matchesOne } from '#shared/payments/providers/signature.ts'
import { factsOf, linkKey, stripeUnits } from '#shared/payments/providers/stripe-objects.ts'
import { unitsOf } from '#shared/payments/providers/units.ts'

/** The version whose objects are read here; without it an account's own would decide. */
const version = '2025-09-30.clover'

/** What happened that is asked for: objects that say that money moved. */
const eventTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
]

/** Things that one call lists, the most that Stripe gives. */
const pageSize = 100

/** Parameters as the API takes them: `line_items[0][quantity]`. */
type Form = readonly (readonly [string, string])[]

function call(account: Account, method: 'GET' | 'POST', path: string, form: Form = [], idempotencyKey?: string): Promise<Json> {
  const encoded = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString()
  const address = `${account.config.stripeApiUrl}/v1/${path}`
  return callProvider({
    provider: 'Stripe',
    method,
    url: method === 'GET' && encoded !== '' ? `${address}?${encoded}` : address,
    headers: {
      authorization: `Bearer ${account.credentials.secret_key}`,
      'stripe-version': version,
      ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: method === 'POST' ? encoded : null,
    credentials: account.credentials,
    wordsOf: (body) => someText(objectIn(objectIn(body).error).message) ?? undefined,
  }).then(objectIn)
}

/** All pages of a list, newest first. */
async function* pages(account: Account, path: string, form: Form): AsyncGenerator<Json[]> {
  for (let after: string | null = null; ; ) {
    const page: Json = await call(account, 'GET', path, [
      ...form,
      ['limit', String(pageSize)],
      ...(after === null ? [] : [['starting_after', after] as const]),
    ])
    const items = objectsIn(page.data)
    yield items
    after = idIn(items.at(-1))
    if (page.has_more !== true || after === null) return
  }
}

const sinceForm = (since: Date): Form => [['created[gte]', String(Math.floor(since.getTime() / 1_000))]]
const typesForm = (types: readonly string[]): Form => types.map((type) => ['types[]', type] as const)

/** The payer's mail is no parameter of a link, but of its address. */
function madeOf(object: Json, { customer_email }: Link): MadeLink {
  const url = new URL(textIn(object.url))
  if (customer_email !== '') url.searchParams.set('prefilled_email', customer_email)
  return { providerLinkId: textIn(object.id), shortUrl: url.href }
}

function formOf(link: Link): Form {
  const item = 'line_items[0]'
  return [
    [`${item}[price_data][currency]`, link.currency.toLowerCase()],
    [`${item}[price_data][unit_amount]`, unitsOf(stripeUnits, link.amount, link.currency)],
    [`${item}[price_data][product_data][name]`, link.description || 'Payment'],
    [`${item}[quantity]`, '1'],
    // Links of Stripe are for many payers unless they are told otherwise.
    ['restrictions[completed_sessions][limit]', '1'],
    [`metadata[${linkKey}]`, link.id],
    [`payment_intent_data[metadata][${linkKey}]`, link.id],
    ...(link.redirect_url === null
      ? []
      : [['after_completion[type]', 'redirect'] as const, ['after_completion[redirect][url]', link.redirect_url] as const]),
  ]
}

async function create(account: Account, link: Link): Promise<MadeLink> {
  return madeOf(await call(account, 'POST', 'payment_links', formOf(link), `kontor-${link.id}`), link)
}

/** Links have no time of their own by which to look for them; that they were made is an event, which is kept for 30 days. */
async function find(account: Account, link: Link): Promise<MadeLink | undefined> {
  const made = pages(account, 'events', [
    ...typesForm(['payment_link.created']),
    ...sinceForm(new Date(Date.parse(link.created_at) - 60_000)),
  ])
  for await (const events of made) {
    const objects = events.map((event) => objectIn(objectIn(event.data).object))
    const object = objects.find(({ metadata }) => objectIn(metadata)[linkKey] === link.id)
    if (object) return madeOf(object, link)
  }
  return undefined
}

async function look(account: Account, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const form: Form = [
    ['payment_link', id],
    ['expand[]', 'data.payment_intent.latest_charge'],
  ]
  const payments: LinkFacts['payments'][number][] = []
  for await (const sessions of pages(account, 'checkout/sessions', form)) {
    payments.push(...sessions.flatMap((session) => factsOf(session).payments))
  }
  const link = factsOf(await call(account, 'GET', `payment_links/${encodeURIComponent(id)}`))
  return { ...link, payments }
}

/** A page that a payer has open outlives its link, so each is ended as well. */
async function end(account: Account, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<void> {
  await call(account, 'POST', `payment_links/${encodeURIComponent(id)}`, [['active', 'false']])
  const form: Form = [
    ['payment_link', id],
    ['status', 'open'],
  ]
  for await (const sessions of pages(account, 'checkout/sessions', form)) {
    for (const session of sessions) await expire(account, textIn(session.id))
  }
}

/** A session that was completed meanwhile is past expiring: what became of it is looked at afterwards. */
async function expire(account: Account, sessionId: string): Promise<void> {
  const path = `checkout/sessions/${encodeURIComponent(sessionId)}`
  await call(account, 'POST', `${path}/expire`).catch(async (error: unknown) => {
    if ((await call(account, 'GET', path)).status === 'open') throw error
  })
}

async function* since(account: Account, from: Date): AsyncGenerator<SweptNews[]> {
  for await (const events of pages(account, 'events', [...typesForm(eventTypes), ...sinceForm(from)])) {
    yield events.map((event) => {
      const bytes = Buffer.from(JSON.stringify(event))
      return { eventId: idIn(event), facts: read(bytes), bytes }
    })
  }
}

const read = (bytes: Buffer): LinkFacts => {
  const event = objectIn(jsonOf(bytes))
  if (event.object !== 'event') return noFacts
  const facts = factsOf(objectIn(event.data).object)
  // A payment is begun days before its money comes, by a transfer; the event is of that moment.
  return { ...facts, payments: facts.payments.map((payment) => ({ ...payment, paidAt: payment.paidAt ?? secondsIn(event.created) })) }
}

const verify: Provider['verify'] = ({ credentials, now }, { bytes, header }) => {
  const parts = header('stripe-signature')
    .split(',')
    .map((part) => part.trim().split('='))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []))
  const expected = hmacOf(credentials.webhook_secret ?? '', `${time}.`, bytes)
  if (!matchesOne(expected, signatures, 'hex') || !isPresent(time, now())) return undefined
  return { eventId: idIn(jsonOf(bytes)), facts: read(bytes) }
}

/** A key says by its first letters whether it moves real money. */
async function check(account: Account): Promise<void> {
  const kind = /^(?:sk|rk)_(live|test)_/.exec(account.credentials.secret_key ?? '')?.[1]
  if (kind !== undefined && kind !== account.mode) {
    throw problem('VALIDATION_ERROR', `The secret key is one of mode ${kind}, and the connection of mode ${account.mode}`)
  }
  await call(account, 'GET', 'payment_links', [['limit', '1']])
}

/** Stripe, by its Payment Links. */
export const stripe: Provider = {
  name: 'stripe',
  credentialNames: ['secret_key', 'webhook_secret'],
  units: stripeUnits,
  create,
  find,
  look,
  end,
  overlapMs: 10 * 60_000,
  check,
  since,
  signsEventId: true,
  verify,
  read,
}
