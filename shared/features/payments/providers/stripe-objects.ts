import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/features/payments/providers/facts.ts'
import { idIn, type Json, objectIn, secondsIn, someText, textIn, wholeIn } from '#shared/features/payments/providers/reading.ts'
import { amountOfUnits, unitTable } from '#shared/features/payments/providers/units.ts'

// Reads payment facts from Stripe's objects by their `object` type, so names and order of events do not matter.

/** Zero-decimal currencies; ISK and UGX, in hundredths that must end in 00; and three-digit currencies, whose last digit must be 0. */
export const stripeUnits = unitTable('Stripe', [
  ['BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['ISK UGX', { digits: 2, step: 100 }],
  ['BHD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** Metadata key of our link id; Stripe copies it to sessions, payments and charges. */
export const linkKey = 'kontor_link'

/** Reads the facts of any object; none for types that say nothing about a payment. */
export function factsOf(value: unknown): LinkFacts {
  const object = objectIn(value)
  const read = readers[textIn(object.object)]
  return read ? read(object) : noFacts
}

const readers: Readonly<Record<string, (object: Json) => LinkFacts>> = {
  'checkout.session': (session) => ({
    ...factsWithLinkId(session),
    providerLinkId: idIn(session.payment_link),
    payments: idIn(session.payment_intent) === null ? [] : [readSessionPayment(session)],
  }),
  payment_intent: (intent) => ({ ...factsWithLinkId(intent), payments: idIn(intent) === null ? [] : [readIntentPayment(intent)] }),
  charge: (charge) => ({ ...factsWithLinkId(charge), payments: idIn(charge.payment_intent) === null ? [] : [readChargePayment(charge)] }),
  dispute: (dispute) => readSideFact(dispute, { disputed: !['won', 'warning_closed', 'prevented'].includes(textIn(dispute.status)) }),
  refund: (refund) =>
    refund.status === 'succeeded' ? readSideFact(refund, { refunded: readMoney(refund, refund.amount).amount }) : noFacts,
  payment_link: (link) => ({ ...factsWithLinkId(link), providerLinkId: idIn(link), ended: readEnd(link) }),
}

const factsWithLinkId = (object: Json): LinkFacts => ({ ...noFacts, linkId: someText(objectIn(object.metadata)[linkKey]) })

/** Facts about a payment that do not tell whether it was paid. */
function readSideFact(object: Json, fact: Partial<PaymentFact>): LinkFacts {
  const id = idIn(object.payment_intent)
  return id === null ? noFacts : { ...factsWithLinkId(object), payments: [{ ...unknownPayment(id), ...fact }] }
}

/** An inactive link counts as cancelled, unless it closed because its limit of completed sessions was reached. */
function readEnd(link: Json): LinkFacts['ended'] {
  const { count, limit } = objectIn(objectIn(link.restrictions).completed_sessions)
  const isUsedUp = typeof count === 'number' && typeof limit === 'number' && count >= limit
  return link.active === false && !isUsedUp ? 'cancelled' : null
}

/** A completed session may still be unpaid: a bank transfer or voucher takes days. */
function readSessionPayment(session: Json): PaymentFact {
  const payer = objectIn(session.customer_details)
  const intent = objectIn(session.payment_intent)
  const charge = objectIn(intent.latest_charge)
  return {
    ...unknownPayment(idIn(session.payment_intent) ?? ''),
    ...(textIn(charge.object) === 'charge' ? readRefundAndDispute(charge) : {}),
    ...readMoney(session, session.amount_total),
    state: session.payment_status === 'paid' ? 'paid' : 'unpaid',
    paidAt: secondsIn(charge.created),
    payerName: textIn(payer.name),
    payerEmail: textIn(payer.email),
  }
}

const readIntentPayment = (intent: Json): PaymentFact => ({
  ...unknownPayment(idIn(intent) ?? ''),
  ...readMoney(intent, intent.status === 'succeeded' ? intent.amount_received : intent.amount),
  state: intent.status === 'succeeded' ? 'paid' : 'unpaid',
  paidAt: secondsIn(objectIn(intent.latest_charge).created),
  payerEmail: textIn(intent.receipt_email),
})

function readChargePayment(charge: Json): PaymentFact {
  const payer = objectIn(charge.billing_details)
  const isPaid = charge.paid === true && charge.captured === true && charge.status === 'succeeded'
  return {
    ...unknownPayment(idIn(charge.payment_intent) ?? ''),
    ...readRefundAndDispute(charge),
    ...readMoney(charge, isPaid ? (charge.amount_captured ?? charge.amount) : charge.amount),
    state: isPaid ? 'paid' : 'unpaid',
    paidAt: secondsIn(charge.created),
    payerName: textIn(payer.name),
    payerEmail: textIn(payer.email),
  }
}

const readRefundAndDispute = (charge: Json): Pick<PaymentFact, 'refunded' | 'disputed'> => ({
  refunded: readMoney(charge, charge.amount_refunded).amount,
  disputed: charge.disputed === true,
})

function readMoney(object: Json, units: unknown): Pick<PaymentFact, 'amount' | 'currency'> {
  const currency = textIn(object.currency).toUpperCase()
  const whole = wholeIn(units)
  return currency === '' || whole === null
    ? { amount: null, currency: null }
    : { amount: amountOfUnits(stripeUnits, whole, currency), currency }
}
