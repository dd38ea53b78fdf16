import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/features/payments/providers/facts.ts'
import {
  type JsonObject,
  readEpochSeconds,
  readId,
  readInteger,
  readNonEmptyString,
  readObject,
  readString,
} from '#shared/features/payments/providers/reading.ts'
import { createUnitTable, fromProviderUnits } from '#shared/features/payments/providers/units.ts'

// Reads payment facts from Stripe's objects by their `object` type, so names and order of events do not matter.

/** Zero-decimal currencies; ISK and UGX, in hundredths that must end in 00; and three-digit currencies, whose last digit must be 0. */
export const stripeUnits = createUnitTable('Stripe', [
  ['BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['ISK UGX', { digits: 2, step: 100 }],
  ['BHD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** Metadata key of our link id; Stripe copies it to sessions, payments and charges. */
export const linkMetadataKey = 'kontor_link'

/** Reads the facts of any object; none for types that say nothing about a payment. */
export function readStripeFacts(value: unknown): LinkFacts {
  const object = readObject(value)
  const read = readers[readString(object.object)]
  return read ? read(object) : noFacts
}

const readers: Readonly<Record<string, (object: JsonObject) => LinkFacts>> = {
  'checkout.session': (session) => ({
    ...factsWithLinkId(session),
    providerLinkId: readId(session.payment_link),
    payments: readId(session.payment_intent) === null ? [] : [readSessionPayment(session)],
  }),
  payment_intent: (intent) => ({ ...factsWithLinkId(intent), payments: readId(intent) === null ? [] : [readIntentPayment(intent)] }),
  charge: (charge) => ({ ...factsWithLinkId(charge), payments: readId(charge.payment_intent) === null ? [] : [readChargePayment(charge)] }),
  dispute: (dispute) => readSideFact(dispute, { disputed: !['won', 'warning_closed', 'prevented'].includes(readString(dispute.status)) }),
  refund: (refund) =>
    refund.status === 'succeeded' ? readSideFact(refund, { refunded: readMoney(refund, refund.amount).amount }) : noFacts,
  payment_link: (link) => ({ ...factsWithLinkId(link), providerLinkId: readId(link), ended: readEnd(link) }),
}

const factsWithLinkId = (object: JsonObject): LinkFacts => ({
  ...noFacts,
  linkId: readNonEmptyString(readObject(object.metadata)[linkMetadataKey]),
})

/** Facts about a payment that do not tell whether it was paid. */
function readSideFact(object: JsonObject, fact: Partial<PaymentFact>): LinkFacts {
  const id = readId(object.payment_intent)
  return id === null ? noFacts : { ...factsWithLinkId(object), payments: [{ ...unknownPayment(id), ...fact }] }
}

/** An inactive link counts as cancelled, unless it closed because its limit of completed sessions was reached. */
function readEnd(link: JsonObject): LinkFacts['ended'] {
  const { count, limit } = readObject(readObject(link.restrictions).completed_sessions)
  const isUsedUp = typeof count === 'number' && typeof limit === 'number' && count >= limit
  return link.active === false && !isUsedUp ? 'cancelled' : null
}

/** A completed session may still be unpaid: a bank transfer or voucher takes days. */
function readSessionPayment(session: JsonObject): PaymentFact {
  const payer = readObject(session.customer_details)
  const intent = readObject(session.payment_intent)
  const charge = readObject(intent.latest_charge)
  return {
    ...unknownPayment(readId(session.payment_intent) ?? ''),
    ...(readString(charge.object) === 'charge' ? readRefundAndDispute(charge) : {}),
    ...readMoney(session, session.amount_total),
    state: session.payment_status === 'paid' ? 'paid' : 'unpaid',
    paidAt: readEpochSeconds(charge.created),
    payerName: readString(payer.name),
    payerEmail: readString(payer.email),
  }
}

const readIntentPayment = (intent: JsonObject): PaymentFact => ({
  ...unknownPayment(readId(intent) ?? ''),
  ...readMoney(intent, intent.status === 'succeeded' ? intent.amount_received : intent.amount),
  state: intent.status === 'succeeded' ? 'paid' : 'unpaid',
  paidAt: readEpochSeconds(readObject(intent.latest_charge).created),
  payerEmail: readString(intent.receipt_email),
})

function readChargePayment(charge: JsonObject): PaymentFact {
  const payer = readObject(charge.billing_details)
  const isPaid = charge.paid === true && charge.captured === true && charge.status === 'succeeded'
  return {
    ...unknownPayment(readId(charge.payment_intent) ?? ''),
    ...readRefundAndDispute(charge),
    ...readMoney(charge, isPaid ? (charge.amount_captured ?? charge.amount) : charge.amount),
    state: isPaid ? 'paid' : 'unpaid',
    paidAt: readEpochSeconds(charge.created),
    payerName: readString(payer.name),
    payerEmail: readString(payer.email),
  }
}

const readRefundAndDispute = (charge: JsonObject): Pick<PaymentFact, 'refunded' | 'disputed'> => ({
  refunded: readMoney(charge, charge.amount_refunded).amount,
  disputed: charge.disputed === true,
})

function readMoney(object: JsonObject, units: unknown): Pick<PaymentFact, 'amount' | 'currency'> {
  const currency = readString(object.currency).toUpperCase()
  const whole = readInteger(units)
  return currency === '' || whole === null
    ? { amount: null, currency: null }
    : { amount: fromProviderUnits(stripeUnits, whole, currency), currency }
}
