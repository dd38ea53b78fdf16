import type { Link } from '#shared/features/payments/links/store.ts'
import { callProvider, refuseOtherMode, requireCredential } from '#shared/features/payments/providers/call.ts'
import { type LinkFacts, noFacts } from '#shared/features/payments/providers/facts.ts'
import type { ListedProviderEvent, Provider, ProviderAccount, ProviderLink } from '#shared/features/payments/providers/provider.ts'
import {
  decodeJson,
  type JsonObject,
  readEpochSeconds,
  readId,
  readNonEmptyString,
  readObject,
  readObjects,
  readString,
} from '#shared/features/payments/providers/reading.ts'
import { linkMetadataKey, readStripeFacts, stripeUnits } from '#shared/features/payments/providers/stripe-objects.ts'
import { toProviderUnits } from '#shared/features/payments/providers/units.ts'
import { verifyTimestampedSignature } from '#shared/platform/kernel/crypto/webhook-signature.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

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

function call(
  account: ProviderAccount,
  method: 'GET' | 'POST',
  path: string,
  form: FormParameters = [],
  idempotencyKey?: string,
): Promise<JsonObject> {
  const encoded = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString()
  const address = `${account.config.stripeApiUrl}/v1/${path}`
  return callProvider({
    egress: account.egress,
    provider: 'Stripe',
    method,
    url: method === 'GET' && encoded !== '' ? `${address}?${encoded}` : address,
    headers: {
      authorization: `Bearer ${requireCredential(account.credentials, 'secret_key')}`,
      'stripe-version': apiVersion,
      ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: method === 'POST' ? encoded : null,
    credentials: account.credentials,
    readErrorMessage: (body) => readNonEmptyString(readObject(readObject(body).error).message) ?? undefined,
  }).then(readObject)
}

/** Reads all pages of a list, newest first. */
async function* listPages(account: ProviderAccount, path: string, form: FormParameters): AsyncGenerator<JsonObject[]> {
  for (let after: string | null = null; ; ) {
    const page: JsonObject = await call(account, 'GET', path, [
      ...form,
      ['limit', String(pageSize)],
      ...(after === null ? [] : [['starting_after', after] as const]),
    ])
    const items = readObjects(page.data)
    yield items
    after = readId(items.at(-1))
    if (page.has_more !== true || after === null) return
  }
}

const createdSince = (since: Date): FormParameters => [['created[gte]', String(Math.floor(since.getTime() / 1_000))]]
const ofTypes = (types: readonly string[]): FormParameters => types.map((type) => ['types[]', type] as const)

/** Stripe takes the payer's email as a query parameter of the link's address, not as a property of the link. */
function readProviderLink(object: JsonObject, { customer_email }: Link): ProviderLink {
  const url = new URL(readString(object.url))
  if (customer_email !== '') url.searchParams.set('prefilled_email', customer_email)
  return { providerLinkId: readString(object.id), shortUrl: url.href }
}

function buildLinkForm(link: Link): FormParameters {
  const item = 'line_items[0]'
  return [
    [`${item}[price_data][currency]`, link.currency.toLowerCase()],
    [`${item}[price_data][unit_amount]`, toProviderUnits(stripeUnits, link.amount, link.currency)],
    [`${item}[price_data][product_data][name]`, link.description || 'Payment'],
    [`${item}[quantity]`, '1'],
    // By default a Stripe link can be paid many times.
    ['restrictions[completed_sessions][limit]', '1'],
    [`metadata[${linkMetadataKey}]`, link.id],
    [`payment_intent_data[metadata][${linkMetadataKey}]`, link.id],
    ...(link.redirect_url === null
      ? []
      : [['after_completion[type]', 'redirect'] as const, ['after_completion[redirect][url]', link.redirect_url] as const]),
  ]
}

async function createLink(account: ProviderAccount, link: Link): Promise<ProviderLink> {
  return readProviderLink(await call(account, 'POST', 'payment_links', buildLinkForm(link), `kontor-${link.id}`), link)
}

/** Links cannot be listed by time, so this searches their creation events, which Stripe keeps for 30 days. */
async function findLink(account: ProviderAccount, link: Link): Promise<ProviderLink | undefined> {
  const creationEvents = listPages(account, 'events', [
    ...ofTypes(['payment_link.created']),
    ...createdSince(new Date(Date.parse(link.created_at) - 60_000)),
  ])
  for await (const events of creationEvents) {
    const objects = events.map((event) => readObject(readObject(event.data).object))
    const object = objects.find(({ metadata }) => readObject(metadata)[linkMetadataKey] === link.id)
    if (object) return readProviderLink(object, link)
  }
  return undefined
}

async function pollLink(account: ProviderAccount, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const form: FormParameters = [
    ['payment_link', id],
    ['expand[]', 'data.payment_intent.latest_charge'],
  ]
  const payments: LinkFacts['payments'][number][] = []
  for await (const sessions of listPages(account, 'checkout/sessions', form)) {
    payments.push(...sessions.flatMap((session) => readStripeFacts(session).payments))
  }
  const link = readStripeFacts(await call(account, 'GET', `payment_links/${encodeURIComponent(id)}`))
  return { ...link, payments }
}

/** Deactivates the link and expires its open checkout sessions, which would otherwise stay payable. */
async function endLink(account: ProviderAccount, { provider_link_id: id }: { readonly provider_link_id: string }): Promise<void> {
  await call(account, 'POST', `payment_links/${encodeURIComponent(id)}`, [['active', 'false']])
  const form: FormParameters = [
    ['payment_link', id],
    ['status', 'open'],
  ]
  for await (const sessions of listPages(account, 'checkout/sessions', form)) {
    for (const session of sessions) await expireSession(account, readString(session.id))
  }
}

/** Expires a session. A session completed in the meantime cannot expire; the caller polls the link afterwards. */
async function expireSession(account: ProviderAccount, sessionId: string): Promise<void> {
  const path = `checkout/sessions/${encodeURIComponent(sessionId)}`
  await call(account, 'POST', `${path}/expire`).catch(async (error: unknown) => {
    if ((await call(account, 'GET', path)).status === 'open') throw error
  })
}

async function* listEventsSince(account: ProviderAccount, from: Date): AsyncGenerator<ListedProviderEvent[]> {
  for await (const events of listPages(account, 'events', [...ofTypes(eventTypes), ...createdSince(from)])) {
    yield events.map((event) => {
      const bytes = Buffer.from(JSON.stringify(event))
      return { eventId: readId(event), facts: readEvent(bytes), bytes }
    })
  }
}

const readEvent = (bytes: Buffer): LinkFacts => {
  const event = readObject(decodeJson(bytes))
  if (event.object !== 'event') return noFacts
  const facts = readStripeFacts(readObject(event.data).object)
  // A bank transfer starts days before its money arrives; the event's time is the time of payment.
  return {
    ...facts,
    payments: facts.payments.map((payment) => ({ ...payment, paidAt: payment.paidAt ?? readEpochSeconds(event.created) })),
  }
}

const verifyDelivery: Provider['verifyDelivery'] = ({ credentials, now }, { bytes, header }) => {
  if (!verifyTimestampedSignature(header('stripe-signature'), requireCredential(credentials, 'webhook_secret'), bytes, now()))
    return undefined
  return { eventId: readId(decodeJson(bytes)), facts: readEvent(bytes) }
}

/** Compares the mode in the key's prefix with the connection's, then tests the key with a call. */
async function checkCredentials(account: ProviderAccount): Promise<void> {
  refuseOtherMode(account, 'secret_key', /^(?:sk|rk)_(live|test)_/)
  await call(account, 'GET', 'payment_links', [['limit', '1']])
}

/** Stripe, through its Payment Links API. */
export const stripe: Provider = {
  name: 'stripe',
  credentialNames: ['secret_key', 'webhook_secret'],
  units: stripeUnits,
  createLink,
  findLink,
  pollLink,
  endLink,
  overlapMs: 10 * minuteMs,
  checkCredentials,
  listEventsSince,
  signsEventId: true,
  verifyDelivery,
  readEvent,
}
