import type { Link } from '#shared/features/payments/links/schemas.ts'
import { callProvider } from '#shared/features/payments/providers/call.ts'
import { type LinkFacts, noFacts } from '#shared/features/payments/providers/facts.ts'
import type { Account, MadeLink, Provider, SweptNews } from '#shared/features/payments/providers/provider.ts'
import { idIn, type Json, jsonOf, objectIn, objectsIn, secondsIn, someText, textIn } from '#shared/features/payments/providers/reading.ts'
import { hmacOf, isPresent, matchesOne } from '#shared/features/payments/providers/signature.ts'
import { factsOf, linkKey, stripeUnits } from '#shared/features/payments/providers/stripe-objects.ts'
import { unitsOf } from '#shared/features/payments/providers/units.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** API version whose objects are read here; without the header Stripe uses the account's default version. */
const apiVersion = '2025-09-30.clover'

/** Event types that a sweep lists: those whose objects report payments, refunds and disputes. */
const eventTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
]

/** Items per list call, Stripe's maximum. */
const pageSize = 100

/** Form parameters of the API, such as `line_items[0][quantity]`. */
type FormParameters = readonly (readonly [string, string])[]

function call(account: Account, method: 'GET' | 'POST', path: string, form: FormParameters = [], idempotencyKey?: string): Promise<Json> {
  const encoded = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString()
  const address = `${account.config.stripeApiUrl}/v1/${path}`
  return callProvider({
    provider: 'Stripe',
    method,
    url: method === 'GET' && encoded !== '' ? `${address}?${encoded}` : address,
    headers: {
      authorization: `Bearer ${account.credentials.secret_key}`,
      'stripe-version': apiVersion,
      ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: method === 'POST' ? encoded : null,
    credentials: account.credentials,
    readErrorMessage: (body) => someText(objectIn(objectIn(body).error).message) ?? undefined,
  }).then(objectIn)
}

/** Reads all pages of a list, newest first. */
async function* listPages(account: Account, path: string, form: FormParameters): AsyncGenerator<Json[]> {
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

const createdSince = (since: Date): FormParameters => [['created[gte]', String(Math.floor(since.getTime() / 1_000))]]
const ofTypes = (types: readonly string[]): FormParameters => types.map((type) => ['types[]', type] as const)

/** The payer's email is a query parameter of the link's address, not of the link. */
function readProviderLink(object: Json, { customer_email }: Link): MadeLink {
  const url = new URL(textIn(object.url))
  if (customer_email !== '') url.searchParams.set('prefilled_email', customer_email)
  return { providerLinkId: textIn(object.id), shortUrl: url.href }
}

function buildLinkForm(link: Link): FormParameters {
  const item = 'line_items[0]'
  return [
    [`${item}[price_data][currency]`, link.currency.toLowerCase()],
    [`${item}[price_data][unit_amount]`, unitsOf(stripeUnits, link.amount, link.currency)],
    [`${item}[price_data][product_data][name]`, link.description || 'Payment'],
    [`${item}[quantity]`, '1'],
    // By default a Stripe link can be paid many times.
    ['restrictions[completed_sessions][limit]', '1'],
    [`metadata[${linkKey}]`, link.id],
    [`payment_intent_data[metadata][${linkKey}]`, link.id],
    ...(link.redirect_url === null
      ? []
      : [['after_completion[type]', 'redirect'] as const, ['after_completion[redirect][url]', link.redirect_url] as const]),
  ]
}

async function createLink(account: Account, link: Link): Promise<MadeLink> {
  return readProviderLink(await call(account, 'POST', 'payment_links', buildLinkForm(link), `kontor-${link.id}`), link)
}

/** Links cannot be listed by time, so this searches their creation events, which Stripe keeps for 30 days. */
async function findLink(account: Account, link: Link): Promise<MadeLink | undefined> {
  const creationEvents = listPages(account, 'events', [
    ...ofTypes(['payment_link.created']),
    ...createdSince(new Date(Date.parse(link.created_at) - 60_000)),
  ])
  for await (const events of creationEvents) {
    const objects = events.map((event) => objectIn(objectIn(event.data).object))
    const object = objects.find(({ metadata }) => objectIn(metadata)[linkKey] === link.id)
    if (object) return readProviderLink(object, link)
  }
  return undefined
}

async function pollLink(account: Account, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const form: FormParameters = [
    ['payment_link', id],
    ['expand[]', 'data.payment_intent.latest_charge'],
  ]
  const payments: LinkFacts['payments'][number][] = []
  for await (const sessions of listPages(account, 'checkout/sessions', form)) {
    payments.push(...sessions.flatMap((session) => factsOf(session).payments))
  }
  const link = factsOf(await call(account, 'GET', `payment_links/${encodeURIComponent(id)}`))
  return { ...link, payments }
}

/** Deactivates the link and expires its open checkout sessions, which would otherwise stay payable. */
async function endLink(account: Account, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<void> {
  await call(account, 'POST', `payment_links/${encodeURIComponent(id)}`, [['active', 'false']])
  const form: FormParameters = [
    ['payment_link', id],
    ['status', 'open'],
  ]
  for await (const sessions of listPages(account, 'checkout/sessions', form)) {
    for (const session of sessions) await expireSession(account, textIn(session.id))
  }
}

/** Expires a session. A session completed in the meantime cannot expire; the caller polls the link afterwards. */
async function expireSession(account: Account, sessionId: string): Promise<void> {
  const path = `checkout/sessions/${encodeURIComponent(sessionId)}`
  await call(account, 'POST', `${path}/expire`).catch(async (error: unknown) => {
    if ((await call(account, 'GET', path)).status === 'open') throw error
  })
}

async function* listEventsSince(account: Account, from: Date): AsyncGenerator<SweptNews[]> {
  for await (const events of listPages(account, 'events', [...ofTypes(eventTypes), ...createdSince(from)])) {
    yield events.map((event) => {
      const bytes = Buffer.from(JSON.stringify(event))
      return { eventId: idIn(event), facts: readEvent(bytes), bytes }
    })
  }
}

const readEvent = (bytes: Buffer): LinkFacts => {
  const event = objectIn(jsonOf(bytes))
  if (event.object !== 'event') return noFacts
  const facts = factsOf(objectIn(event.data).object)
  // A bank transfer starts days before its money arrives; the event's time is the time of payment.
  return { ...facts, payments: facts.payments.map((payment) => ({ ...payment, paidAt: payment.paidAt ?? secondsIn(event.created) })) }
}

const verifyDelivery: Provider['verify'] = ({ credentials, now }, { bytes, header }) => {
  const parts = header('stripe-signature')
    .split(',')
    .map((part) => part.trim().split('='))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []))
  const expected = hmacOf(credentials.webhook_secret ?? '', `${time}.`, bytes)
  if (!matchesOne(expected, signatures, 'hex') || !isPresent(time, now())) return undefined
  return { eventId: idIn(jsonOf(bytes)), facts: readEvent(bytes) }
}

/** Compares the mode in the key's prefix with the connection's, then tests the key with a call. */
async function checkCredentials(account: Account): Promise<void> {
  const kind = /^(?:sk|rk)_(live|test)_/.exec(account.credentials.secret_key ?? '')?.[1]
  if (kind !== undefined && kind !== account.mode) {
    throw problem('VALIDATION_ERROR', `secret_key is a ${kind} key, but the connection has mode ${account.mode}`)
  }
  await call(account, 'GET', 'payment_links', [['limit', '1']])
}

/** Stripe, through its Payment Links API. */
export const stripe: Provider = {
  name: 'stripe',
  credentialNames: ['secret_key', 'webhook_secret'],
  units: stripeUnits,
  create: createLink,
  find: findLink,
  look: pollLink,
  end: endLink,
  overlapMs: 10 * 60_000,
  check: checkCredentials,
  since: listEventsSince,
  signsEventId: true,
  verify: verifyDelivery,
  read: readEvent,
}
