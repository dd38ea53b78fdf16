/** A provider's facts about a payment; null where the provider does not report the fact. */
export interface PaymentFact {
  /** The provider's id of the payment; the same in every event and call. */
  readonly id: string
  /** Whether the payer was charged; null where the provider reports something else about the payment. */
  readonly state: 'paid' | 'unpaid' | 'failed' | null
  /** Decimal text; `currency` is an ISO 4217 code. */
  readonly amount: string | null
  readonly currency: string | null
  readonly paidAt: Date | null
  readonly payerName: string
  readonly payerEmail: string
  /** Total refunded amount as decimal text. */
  readonly refunded: string | null
  readonly disputed: boolean | null
}

/** A provider's facts about one of our links, from the current state of its objects and never from the name of an event. */
export interface LinkFacts {
  /** Our id of the link, which the provider repeats. */
  readonly linkId: string | null
  readonly providerLinkId: string | null
  /** How the link ended at the provider without being paid. */
  readonly ended: 'cancelled' | 'expired' | null
  readonly payments: readonly PaymentFact[]
}

/** An event that a provider delivered or listed. */
export interface ProviderEvent {
  /** The provider's id of the event; null where it gives none. */
  readonly eventId: string | null
  readonly facts: LinkFacts
}

/** A payment with nothing known except its id. */
export const unknownPayment = (id: string): PaymentFact => ({
  id,
  state: null,
  amount: null,
  currency: null,
  paidAt: null,
  payerName: '',
  payerEmail: '',
  refunded: null,
  disputed: null,
})

/** Facts that name no link and no payment. */
export const noFacts: LinkFacts = Object.freeze({ linkId: null, providerLinkId: null, ended: null, payments: [] })
