import { type LinkFacts, noFacts, type PaymentFact, unknownPayment } from '#shared/payments/providers/facts.ts'
import { idIn, type Json, objectIn, secondsIn, someText, textIn, wholeIn } from '#shared/payments/providers/reading.ts'
import { amountOfUnits, unitTable } from '#shared/payments/providers/units.ts'

// What Stripe's objects say of a payment. Each is read by its own `object`, so that no name and no order of events matters.

/** Zero-decimal currencies; ISK and UGX, which are counted in hundredths that end in 00; and those with three digits, of which the last is 0. */
export const stripeUnits = unitTable('Stripe', [
  ['BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', { digits: 0, step: 1 }],
  ['ISK UGX', { digits: 2, step: 100 }],
  ['BHD JOD KWD OMR TND', { digits: 3, step: 10 }],
])

/** The metadata under which Stripe keeps the id of our link; it copies it to sessions, payments and charges. */
export const linkKey = 'kontor_link'

/** The facts of an object of any kind; none for those that say nothing of a payment. */
export function factsOf(value: unknown): LinkFacts {
  const object = objectIn(value)
  const read = readers[textIn(object.object)]
  return read ? read(object) : noFacts
}

const readers: Readonly<Record<string, (object: Json) => LinkFacts>> = {
  'checkout.session': (session) => ({
    ...linkOf(session),
    providerLinkId: idIn(session.payment_link),
    payments: idIn(session.payment_intent) === null ? [] : [paymentOfSession(session)],
  }),
  payment_intent: (intent) => ({ ...linkOf(intent), payments: idIn(intent) === null ? [] : [paymentOfIntent(intent)] }),
  charge: (charge) => ({ ...linkOf(charge), payments: idIn(charge.payment_intent) === null ? [] : [paymentOfCharge(charge)] }),
  dispute: (dispute) => aside(dispute, { disputed: !['won', 'warning_closed', 'prevented'].includes(textIn(dispute.status)) }),
  refund: (refund) => (refund.status === 'succeeded' ? aside(refund, { refunded: moneyIn(refund, refund.amount).amount }) : noFacts),
  payment_link: (link) => ({ ...linkOf(link), providerLinkId: idIn(link), ended: endOf(link) }),
}

const linkOf = (object: Json): LinkFacts => ({ ...noFacts, linkId: someText(objectIn(object.metadata)[linkKey]) })

/** What is told of a payment without saying whether it was paid. */
function aside(object: Json, fact: Partial<PaymentFact>): LinkFacts {
  const id = idIn(object.payment_intent)
  return id === null ? noFacts : { ...linkOf(object), payments: [{ ...unknownPayment(id), ...fact }] }
}

/** A link that nobody may pay any more although nobody has: one that was paid is closed by its own limit. */
function endOf(link: Json): LinkFacts['ended'] {
  const { count, limit } = objectIn(objectIn(link.restrictions).completed_sessions)
  const isUsedUp = typeof count === 'number' && typeof limit === 'number' && count >= limit
  return link.active === false && !isUsedUp ? 'cancelled' : null
}

/** A session that is completed is not paid yet: a transfer or voucher takes days. */
function paymentOfSession(session: Json): PaymentFact {
  const payer = objectIn(session.customer_details)
  const intent = objectIn(session.payment_intent)
  const charge = objectIn(intent.latest_charge)
  return {
    ...unknownPayment(idIn(session.payment_intent) ?? ''),
    ...(textIn(charge.object) === 'charge' ? marksOf(charge) : {}),
    ...moneyIn(session, session.amount_total),
    state: session.payment_status === 'paid' ? 'paid' : 'unpaid',
    paidAt: secondsIn(charge.created),
    payerName: textIn(payer.name),
    payerEmail: textIn(payer.email),
  }
}

const paymentOfIntent = (intent: Json): PaymentFact => ({
  ...unknownPayment(idIn(intent) ?? ''),
  ...moneyIn(intent, intent.status === 'succeeded' ? intent.amount_received : intent.amount),
  state: intent.status === 'succeeded' ? 'paid' : 'unpaid',
  paidAt: secondsIn(objectIn(intent.latest_charge).created),
  payerEmail: textIn(intent.receipt_email),
})

function paymentOfCharge(charge: Json): PaymentFact {
  const payer = objectIn(charge.billing_details)
  const isPaid = charge.paid === true && charge.captured === true && charge.status === 'succeeded'
  return {
    ...unknownPayment(idIn(charge.payment_intent) ?? ''),
    ...marksOf(charge),
    ...moneyIn(charge, isPaid ? (charge.amount_captured ?? charge.amount) : charge.amount),
    state: isPaid ? 'paid' : 'unpaid',
    paidAt: secondsIn(charge.created),
    payerName: textIn(payer.name),
    payerEmail: textIn(payer.email),
  }
}

const marksOf = (charge: Json): Pick<PaymentFact, 'refunded' | 'disputed'> => ({
  refunded: moneyIn(charge, charge.amount_refunded).amount,
  disputed: charge.disputed === true,
})

function moneyIn(object: Json, units: unknown): Pick<PaymentFact, 'amount' | 'currency'> {
  const currency = textIn(object.currency).toUpperCase()
  const whole = wholeIn(units)
  return currency === '' || whole === null
    ? { amount: null, currency: null }
    : { amount: amountOfUnits(stripeUnits, whole, currency), currency }
}
