import type { Link } from '#shared/features/payments/links/schemas.ts'
import { callProvider } from '#shared/features/payments/providers/call.ts'
import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/features/payments/providers/facts.ts'
import type { Account, MadeLink, Provider, SweptNews } from '#shared/features/payments/providers/provider.ts'
import {
  idIn,
  type Json,
  jsonOf,
  objectIn,
  objectsIn,
  secondsIn,
  someText,
  textIn,
  wholeIn,
} from '#shared/features/payments/providers/reading.ts'
import { hmacOf, matchesOne } from '#shared/features/payments/providers/signature.ts'
import { amountOfUnits, unitsOf, unitTable } from '#shared/features/payments/providers/units.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Currencies without fraction digits, and those with three fraction digits, whose last digit must be 0. */
const units = unitTable('Razorpay', [
  ['BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['BHD IQD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** Note that holds our link id; Razorpay copies a link's notes to its payments. */
const linkNoteKey = 'kontor_link'

/** Items per list call, Razorpay's maximum. */
const pageSize = 100

/** Minimum lifetime of a link in milliseconds. */
const minLifetimeMs = 15 * 60_000

async function call(account: Account, method: 'GET' | 'POST', path: string, body?: object): Promise<Json> {
  const { key_id = '', key_secret = '' } = account.credentials
  const answered = await callProvider({
    provider: 'Razorpay',
    method,
    url: `${account.config.razorpayApiUrl}/v1/${path}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${key_id}:${key_secret}`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: account.credentials,
    readErrorMessage: (answer) => someText(objectIn(objectIn(answer).error).description) ?? undefined,
  })
  return objectIn(answered)
}

const readProviderLink = (object: Json): MadeLink => ({ providerLinkId: textIn(object.id), shortUrl: textIn(object.short_url) })

/** Razorpay has no idempotency keys for links. A reference is accepted once and finds its link. */
async function createLink(account: Account, link: Link): Promise<MadeLink> {
  const found = await findLink(account, link)
  if (found) return found
  const { customer_name: name, customer_email: email, customer_contact: contact } = link
  const made = call(account, 'POST', 'payment_links', {
    amount: Number(unitsOf(units, link.amount, link.currency)),
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

async function findLink(account: Account, link: Link): Promise<MadeLink | undefined> {
  const { payment_links } = await call(account, 'GET', `payment_links?reference_id=${link.id}`)
  const object = objectsIn(payment_links).find(({ reference_id }) => reference_id === link.id)
  return object && readProviderLink(object)
}

async function pollLink(account: Account, { provider_link_id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const link = await call(account, 'GET', `payment_links/${encodeURIComponent(provider_link_id)}`)
  const paid = objectsIn(link.payments)
  const payments: PaymentFact[] = []
  // A link's list of payments lacks payers and refunds, so each payment is read.
  for (const { payment_id } of paid) {
    payments.push(readPayment(await call(account, 'GET', `payments/${encodeURIComponent(textIn(payment_id))}`)))
  }
  return { ...readLinkFacts(link), payments }
}

/**
 * Cancelling a link also ends open pay pages. Razorpay refuses it for a link that was paid or has ended; the caller polls the link
 * afterwards.
 */
async function endLink(account: Account, { provider_link_id }: { readonly provider_link_id: string }): Promise<void> {
  const path = `payment_links/${encodeURIComponent(provider_link_id)}`
  await call(account, 'POST', `${path}/cancel`).catch(async (error: unknown) => {
    if (openStatuses.has(textIn((await call(account, 'GET', path)).status))) throw error
  })
}

const openStatuses: ReadonlySet<string> = new Set(['created', 'partially_paid'])
const endedStatuses: Readonly<Record<string, LinkFacts['ended']>> = { cancelled: 'cancelled', expired: 'expired' }

const readLinkFacts = (link: Json): LinkFacts => ({
  linkId: someText(objectIn(link.notes)[linkNoteKey]) ?? someText(link.reference_id),
  providerLinkId: idIn(link),
  ended: endedStatuses[textIn(link.status)] ?? null,
  payments: [],
})

function readPayment(payment: Json): PaymentFact {
  const currency = textIn(payment.currency)
  const [amount, refunded] = [wholeIn(payment.amount), wholeIn(payment.amount_refunded)]
  const wasPaid = payment.status === 'captured' || payment.status === 'refunded'
  return {
    ...unknownPayment(idIn(payment) ?? ''),
    state: wasPaid ? 'paid' : payment.status === 'failed' ? 'failed' : 'unpaid',
    amount: amount === null ? null : amountOfUnits(units, amount, currency),
    currency: currency || null,
    paidAt: secondsIn(payment.created_at),
    payerName: textIn(objectIn(payment.customer).name),
    payerEmail: textIn(payment.email),
    refunded: refunded === null ? null : amountOfUnits(units, refunded, currency),
  }
}

/** Lists payments, which carry their link's notes, since links cannot be listed by time. */
async function* listEventsSince(account: Account, from: Date): AsyncGenerator<SweptNews[]> {
  const span = `from=${Math.floor(from.getTime() / 1_000)}&to=${Math.ceil(account.now().getTime() / 1_000)}&count=${pageSize}`
  for (let skip = 0; ; skip += pageSize) {
    const items = objectsIn((await call(account, 'GET', `payments?${span}&skip=${skip}`)).items)
    yield items.filter((payment) => notedLinkId(payment) !== null).map((payment) => toListedEvent(payment))
    if (items.length < pageSize) return
  }
}

const notedLinkId = (payment: Json): string | null => {
  const noted = textIn(objectIn(payment.notes)[linkNoteKey])
  return isUuid(noted) ? noted : null
}

/** A payment's state has no event id, so the hash of its content identifies the event. */
const toListedEvent = (payment: Json): SweptNews => {
  const bytes = Buffer.from(JSON.stringify({ entity: 'event', payload: { payment: { entity: payment } } }))
  return { eventId: null, facts: readEvent(bytes), bytes }
}

function readEvent(bytes: Buffer): LinkFacts {
  const payload = objectIn(objectIn(jsonOf(bytes)).payload)
  const entity = (name: string): Json => objectIn(objectIn(payload[name]).entity)
  const [link, payment, dispute, refund] = [entity('payment_link'), entity('payment'), entity('dispute'), entity('refund')]
  const facts = idIn(link) === null ? { ...noFacts, linkId: notedLinkId(payment) } : readLinkFacts(link)
  const payments = idIn(payment) === null ? [] : [readPayment(payment)]
  return { ...facts, payments: [...payments, ...readDispute(dispute), ...readRefund(refund)] }
}

const readDispute = (dispute: Json): PaymentFact[] => {
  const id = idIn(dispute.payment_id)
  return id === null ? [] : [{ ...unknownPayment(id), disputed: dispute.status !== 'won' }]
}

const readRefund = (refund: Json): PaymentFact[] => {
  const [id, amount, currency] = [idIn(refund.payment_id), wholeIn(refund.amount), textIn(refund.currency)]
  return id === null || amount === null || currency === '' || refund.status === 'failed'
    ? []
    : [{ ...unknownPayment(id), refunded: amountOfUnits(units, amount, currency) }]
}

const verifyDelivery: Provider['verify'] = ({ credentials }, { bytes, header }) => {
  const expected = hmacOf(credentials.webhook_secret ?? '', bytes)
  if (
    !matchesOne(
      expected,
      header('x-razorpay-signature')
        .split(',')
        .map((text) => text.trim()),
      'hex',
    )
  )
    return undefined
  return { eventId: someText(header('x-razorpay-event-id').slice(0, 200)), facts: readEvent(bytes) }
}

/** Compares the mode in the key's prefix with the connection's, then tests the key with a call. */
async function checkCredentials(account: Account): Promise<void> {
  const kind = /^rzp_(live|test)_/.exec(account.credentials.key_id ?? '')?.[1]
  if (kind !== undefined && kind !== account.mode) {
    throw problem('VALIDATION_ERROR', `key_id is a ${kind} key, but the connection has mode ${account.mode}`)
  }
  await call(account, 'GET', 'payments?count=1')
}

/** Razorpay, through its Payment Links API. */
export const razorpay: Provider = {
  name: 'razorpay',
  credentialNames: ['key_id', 'key_secret', 'webhook_secret'],
  units,
  checkExpiry(expiresAt, now) {
    if (expiresAt.getTime() - now.getTime() >= minLifetimeMs) return
    throw problem('VALIDATION_ERROR', 'expires_at must be at least 15 minutes ahead for Razorpay')
  },
  create: createLink,
  find: findLink,
  look: pollLink,
  end: endLink,
  overlapMs: 3 * 3_600_000,
  check: checkCredentials,
  since: listEventsSince,
  signsEventId: false,
  verify: verifyDelivery,
  read: readEvent,
}
