import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import type { Link } from '#shared/payments/link.ts'
import { callProvider } from '#shared/payments/providers/call.ts'
import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/payments/providers/facts.ts'
import type { Account, MadeLink, Provider, SweptNews } from '#shared/payments/providers/provider.ts'
import { idIn, type Json, jsonOf, objectIn, objectsIn, secondsIn, someText, textIn, wholeIn } from '#shared/payments/providers/reading.ts'
import { hmacOf, matchesOne } from '#shared/payments/providers/signature.ts'
import { amountOfUnits, unitsOf, unitTable } from '#shared/payments/providers/units.ts'

/** Currencies without a smaller unit, and those with three digits, of which the last must be 0. */
const units = unitTable('Razorpay', [
  ['BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['BHD IQD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** The note under which Razorpay keeps the id of our link; it copies the notes of a link to its payments. */
const linkKey = 'kontor_link'

/** Things that one call lists, the most that Razorpay gives. */
const pageSize = 100

/** A link must not end sooner than this, in milliseconds. */
const soonestMs = 15 * 60_000

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
    wordsOf: (answer) => someText(objectIn(objectIn(answer).error).description) ?? undefined,
  })
  return objectIn(answered)
}

const madeOf = (object: Json): MadeLink => ({ providerLinkId: textIn(object.id), shortUrl: textIn(object.short_url) })

/** Razorpay knows no idempotency key for links; it takes a reference once, and finds the link by it. */
async function create(account: Account, link: Link): Promise<MadeLink> {
  const found = await find(account, link)
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
    notes: { [linkKey]: link.id },
    ...(link.redirect_url === null ? {} : { callback_url: link.redirect_url, callback_method: 'get' }),
  })
  return made.then(madeOf, async (error: unknown) => {
    // Another attempt has taken the reference meanwhile.
    const other = await find(account, link)
    if (!other) throw error
    return other
  })
}

async function find(account: Account, link: Link): Promise<MadeLink | undefined> {
  const { payment_links } = await call(account, 'GET', `payment_links?reference_id=${link.id}`)
  const object = objectsIn(payment_links).find(({ reference_id }) => reference_id === link.id)
  return object && madeOf(object)
}

async function look(account: Account, { provider_link_id }: { readonly provider_link_id: string }): Promise<LinkFacts> {
  const link = await call(account, 'GET', `payment_links/${encodeURIComponent(provider_link_id)}`)
  const paid = objectsIn(link.payments)
  const payments: PaymentFact[] = []
  // What a link says of its payments leaves out who paid and what went back.
  for (const { payment_id } of paid) {
    payments.push(paymentOf(await call(account, 'GET', `payments/${encodeURIComponent(textIn(payment_id))}`)))
  }
  return { ...factsOfLink(link), payments }
}

/** Ending a link ends the page that a payer has open. One that was paid or has ended meanwhile is refused, and looked at afterwards. */
async function end(account: Account, { provider_link_id }: { readonly provider_link_id: string }): Promise<void> {
  const path = `payment_links/${encodeURIComponent(provider_link_id)}`
  await call(account, 'POST', `${path}/cancel`).catch(async (error: unknown) => {
    if (openStatuses.has(textIn((await call(account, 'GET', path)).status))) throw error
  })
}

const openStatuses: ReadonlySet<string> = new Set(['created', 'partially_paid'])
const ends: Readonly<Record<string, LinkFacts['ended']>> = { cancelled: 'cancelled', expired: 'expired' }

const factsOfLink = (link: Json): LinkFacts => ({
  linkId: someText(objectIn(link.notes)[linkKey]) ?? someText(link.reference_id),
  providerLinkId: idIn(link),
  ended: ends[textIn(link.status)] ?? null,
  payments: [],
})

function paymentOf(payment: Json): PaymentFact {
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

/** Payments are listed with the notes of their link; the links themselves cannot be listed by time. */
async function* since(account: Account, from: Date): AsyncGenerator<SweptNews[]> {
  const span = `from=${Math.floor(from.getTime() / 1_000)}&to=${Math.ceil(account.now().getTime() / 1_000)}&count=${pageSize}`
  for (let skip = 0; ; skip += pageSize) {
    const items = objectsIn((await call(account, 'GET', `payments?${span}&skip=${skip}`)).items)
    yield items.filter((payment) => linkNoted(payment) !== null).map((payment) => sweptOf(payment))
    if (items.length < pageSize) return
  }
}

const linkNoted = (payment: Json): string | null => {
  const noted = textIn(objectIn(payment.notes)[linkKey])
  return isUuid(noted) ? noted : null
}

/** A payment has no id for what becomes of it: what it says now is told once. */
const sweptOf = (payment: Json): SweptNews => {
  const bytes = Buffer.from(JSON.stringify({ entity: 'event', payload: { payment: { entity: payment } } }))
  return { eventId: null, facts: read(bytes), bytes }
}

function read(bytes: Buffer): LinkFacts {
  const payload = objectIn(objectIn(jsonOf(bytes)).payload)
  const entity = (name: string): Json => objectIn(objectIn(payload[name]).entity)
  const [link, payment, dispute, refund] = [entity('payment_link'), entity('payment'), entity('dispute'), entity('refund')]
  const facts = idIn(link) === null ? { ...noFacts, linkId: linkNoted(payment) } : factsOfLink(link)
  const told = idIn(payment) === null ? [] : [paymentOf(payment)]
  return { ...facts, payments: [...told, ...disputeOf(dispute), ...refundOf(refund)] }
}

const disputeOf = (dispute: Json): PaymentFact[] => {
  const id = idIn(dispute.payment_id)
  return id === null ? [] : [{ ...unknownPayment(id), disputed: dispute.status !== 'won' }]
}

const refundOf = (refund: Json): PaymentFact[] => {
  const [id, amount, currency] = [idIn(refund.payment_id), wholeIn(refund.amount), textIn(refund.currency)]
  return id === null || amount === null || currency === '' || refund.status === 'failed'
    ? []
    : [{ ...unknownPayment(id), refunded: amountOfUnits(units, amount, currency) }]
}

const verify: Provider['verify'] = ({ credentials }, { bytes, header }) => {
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
  return { eventId: someText(header('x-razorpay-event-id').slice(0, 200)), facts: read(bytes) }
}

/** A key says by its first letters whether it moves real money. */
async function check(account: Account): Promise<void> {
  const kind = /^rzp_(live|test)_/.exec(account.credentials.key_id ?? '')?.[1]
  if (kind !== undefined && kind !== account.mode) {
    throw problem('VALIDATION_ERROR', `The key is one of mode ${kind}, and the connection of mode ${account.mode}`)
  }
  await call(account, 'GET', 'payments?count=1')
}

/** Razorpay, by its Payment Links. */
export const razorpay: Provider = {
  name: 'razorpay',
  credentialNames: ['key_id', 'key_secret', 'webhook_secret'],
  units,
  checkExpiry(expiresAt, now) {
    if (expiresAt.getTime() - now.getTime() >= soonestMs) return
    throw problem('VALIDATION_ERROR', 'expires_at must be at least 15 minutes ahead for Razorpay')
  },
  create,
  find,
  look,
  end,
  overlapMs: 3 * 3_600_000,
  check,
  since,
  signsEventId: false,
  verify,
  read,
}
