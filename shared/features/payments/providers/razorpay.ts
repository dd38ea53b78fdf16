import type { Link } from '#shared/features/payments/links/store.ts'
import { callProvider, refuseOtherMode, requireCredential } from '#shared/features/payments/providers/call.ts'
import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/features/payments/providers/facts.ts'
import type { ListedProviderEvent, Provider, ProviderAccount, ProviderLink } from '#shared/features/payments/providers/provider.ts'
import {
  decodeJson,
  type JsonObject,
  readEpochSeconds,
  readId,
  readInteger,
  readNonEmptyString,
  readObject,
  readObjects,
  readString,
} from '#shared/features/payments/providers/reading.ts'
import { createUnitTable, fromProviderUnits, toProviderUnits } from '#shared/features/payments/providers/units.ts'
import { computeHmac, matchesAnySignature } from '#shared/platform/kernel/crypto/webhook-signature.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** Currencies without fraction digits, and those with three fraction digits, whose last digit must be 0. */
const units = createUnitTable('Razorpay', [
  ['BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['BHD IQD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** Note that holds our link id; Razorpay copies a link's notes to its payments. */
const linkNoteKey = 'kontor_link'

/** Items per list call, Razorpay's maximum. */
const pageSize = 100

/** Minimum lifetime of a link in milliseconds. */
const minLifetimeMs = 15 * minuteMs

async function call(account: ProviderAccount, method: 'GET' | 'POST', path: string, body?: object): Promise<JsonObject> {
  const [id, secret] = [requireCredential(account.credentials, 'key_id'), requireCredential(account.credentials, 'key_secret')]
  const answered = await callProvider({
    egress: account.egress,
    provider: 'Razorpay',
    method,
    url: `${account.config.razorpayApiUrl}/v1/${path}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: account.credentials,
    readErrorMessage: (answer) => readNonEmptyString(readObject(readObject(answer).error).description) ?? undefined,
  })
  return readObject(answered)
}

const readProviderLink = (object: JsonObject): ProviderLink => ({
  providerLinkId: readString(object.id),
  shortUrl: readString(object.short_url),
})

/**
 * Razorpay has no idempotency keys for links, so the link's id is sent as the reference, which Razorpay accepts only once and can be
 * searched by.
 */
async function createLink(account: ProviderAccount, link: Link): Promise<ProviderLink> {
  const found = await findLink(account, link)
  if (found) return found
  const { customer_name: name, customer_email: email, customer_contact: contact } = link
  const made = call(account, 'POST', 'payment_links', {
    amount: Number(toProviderUnits(units, link.amount, link.currency)),
    currency: link.currency,
    accept_partial: false,
    reference_id: link.id,
    description: link.description,
    customer: { ...(name && { name }), ...(email && { email }), ...(contact && { contact }) },
    expire_by: Math.floor(Date.parse(link.expires_at) / 1_000),
    notify: { sms: false, email: false },
    reminder_enable: false,
    notes: { [linkNoteKey]: link.id },
    ...(link.redirect_url === null ? {} : { callback_url: link.redirect_url, callback_method: 'get' }),
  })
  return made.then(readProviderLink, async (error: unknown) => {
    // A concurrent attempt may have used the reference.
    const other = await findLink(account, link)
    if (!other) throw error
    return other
  })
}

async function findLink(account: ProviderAccount, link: Link): Promise<ProviderLink | undefined> {
  const { payment_links } = await call(account, 'GET', `payment_links?reference_id=${link.id}`)
  const object = readObjects(payment_links).find(({ reference_id }) => reference_id === link.id)
  return object && readProviderLink(object)
}

async function pollLink(account: ProviderAccount, { provider_link_id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const link = await call(account, 'GET', `payment_links/${encodeURIComponent(provider_link_id)}`)
  const paid = readObjects(link.payments)
  const payments: PaymentFact[] = []
  // A link's list of payments lacks payers and refunds, so each payment is read.
  for (const { payment_id } of paid) {
    payments.push(readPayment(await call(account, 'GET', `payments/${encodeURIComponent(readString(payment_id))}`)))
  }
  return { ...readLinkFacts(link), payments }
}

/**
 * Cancelling a link also ends open pay pages. Razorpay refuses it for a link that was paid or has ended; the caller polls the link
 * afterwards.
 */
async function endLink(account: ProviderAccount, { provider_link_id }: { readonly provider_link_id: string }): Promise<void> {
  const path = `payment_links/${encodeURIComponent(provider_link_id)}`
  await call(account, 'POST', `${path}/cancel`).catch(async (error: unknown) => {
    if (openStatuses.has(readString((await call(account, 'GET', path)).status))) throw error
  })
}

const openStatuses: ReadonlySet<string> = new Set(['created', 'partially_paid'])
const endedStatuses: Readonly<Record<string, LinkFacts['ended']>> = { cancelled: 'cancelled', expired: 'expired' }

const readLinkFacts = (link: JsonObject): LinkFacts => ({
  linkId: readNonEmptyString(readObject(link.notes)[linkNoteKey]) ?? readNonEmptyString(link.reference_id),
  providerLinkId: readId(link),
  ended: endedStatuses[readString(link.status)] ?? null,
  payments: [],
})

function readPayment(payment: JsonObject): PaymentFact {
  const currency = readString(payment.currency)
  const [amount, refunded] = [readInteger(payment.amount), readInteger(payment.amount_refunded)]
  const wasPaid = payment.status === 'captured' || payment.status === 'refunded'
  return {
    ...unknownPayment(readId(payment) ?? ''),
    state: wasPaid ? 'paid' : payment.status === 'failed' ? 'failed' : 'unpaid',
    amount: amount === null ? null : fromProviderUnits(units, amount, currency),
    currency: currency || null,
    paidAt: readEpochSeconds(payment.created_at),
    payerName: readString(readObject(payment.customer).name),
    payerEmail: readString(payment.email),
    refunded: refunded === null ? null : fromProviderUnits(units, refunded, currency),
  }
}

/** Lists payments, which carry their link's notes, since links cannot be listed by time. */
async function* listEventsSince(account: ProviderAccount, from: Date): AsyncGenerator<ListedProviderEvent[]> {
  const span = `from=${Math.floor(from.getTime() / 1_000)}&to=${Math.ceil(account.now().getTime() / 1_000)}&count=${pageSize}`
  for (let skip = 0; ; skip += pageSize) {
    const items = readObjects((await call(account, 'GET', `payments?${span}&skip=${skip}`)).items)
    yield items.filter((payment) => notedLinkId(payment) !== null).map((payment) => toListedEvent(payment))
    if (items.length < pageSize) return
  }
}

const notedLinkId = (payment: JsonObject): string | null => {
  const noted = readString(readObject(payment.notes)[linkNoteKey])
  return isUuid(noted) ? noted : null
}

/** A payment's state has no event id, so the hash of its content identifies the event. */
const toListedEvent = (payment: JsonObject): ListedProviderEvent => {
  const bytes = Buffer.from(JSON.stringify({ entity: 'event', payload: { payment: { entity: payment } } }))
  return { eventId: null, facts: readEvent(bytes), bytes }
}

function readEvent(bytes: Buffer): LinkFacts {
  const payload = readObject(readObject(decodeJson(bytes)).payload)
  const entity = (name: string): JsonObject => readObject(readObject(payload[name]).entity)
  const [link, payment, dispute, refund] = [entity('payment_link'), entity('payment'), entity('dispute'), entity('refund')]
  const facts = readId(link) === null ? { ...noFacts, linkId: notedLinkId(payment) } : readLinkFacts(link)
  const payments = readId(payment) === null ? [] : [readPayment(payment)]
  return { ...facts, payments: [...payments, ...readDispute(dispute), ...readRefund(refund)] }
}

const readDispute = (dispute: JsonObject): PaymentFact[] => {
  const id = readId(dispute.payment_id)
  return id === null ? [] : [{ ...unknownPayment(id), disputed: dispute.status !== 'won' }]
}

const readRefund = (refund: JsonObject): PaymentFact[] => {
  const [id, amount, currency] = [readId(refund.payment_id), readInteger(refund.amount), readString(refund.currency)]
  return id === null || amount === null || currency === '' || refund.status === 'failed'
    ? []
    : [{ ...unknownPayment(id), refunded: fromProviderUnits(units, amount, currency) }]
}

const verifyDelivery: Provider['verifyDelivery'] = ({ credentials }, { bytes, header }) => {
  const expected = computeHmac(requireCredential(credentials, 'webhook_secret'), bytes)
  const signatures = header('x-razorpay-signature').split(/\s*,\s*/)
  if (!matchesAnySignature(expected, signatures, 'hex')) return undefined
  return { eventId: readNonEmptyString(header('x-razorpay-event-id').slice(0, 200)), facts: readEvent(bytes) }
}

/** Compares the mode in the key's prefix with the connection's, then tests the key with a call. */
async function checkCredentials(account: ProviderAccount): Promise<void> {
  refuseOtherMode(account, 'key_id', /^rzp_(live|test)_/)
  await call(account, 'GET', 'payments?count=1')
}

/** Razorpay, through its Payment Links API. */
export const razorpay: Provider = {
  name: 'razorpay',
  credentialNames: ['key_id', 'key_secret', 'webhook_secret'],
  accountName: 'key_id',
  units,
  checkExpiry(expiresAt, now) {
    if (expiresAt.getTime() - now.getTime() >= minLifetimeMs) return
    throw problem('VALIDATION_ERROR', 'expires_at must be at least 15 minutes ahead for Razorpay')
  },
  createLink,
  findLink,
  pollLink,
  endLink,
  overlapMs: 3 * hourMs,
  checkCredentials,
  listEventsSince,
  signsEventId: false,
  verifyDelivery,
  readEvent,
}
