/** What a provider says of a payment. What it does not say is null. */
export interface PaymentFact {
  /** The provider's own id: one payment has one, by whatever event or call it is learned. */
  readonly id: string
  /** Whether the payer's money has been taken; null where the provider tells of something else. */
  readonly state: 'paid' | 'unpaid' | 'failed' | null
  /** Decimal text, and an ISO 4217 code. */
  readonly amount: string | null
  readonly currency: string | null
  readonly paidAt: Date | null
  readonly payerName: string
  readonly payerEmail: string
  /** How much of it went back, as decimal text. */
  readonly refunded: string | null
  readonly disputed: boolean | null
}

/** What a provider says of one of our links: the present state of its objects, never the name of an event. */
export interface LinkFacts {
  /** Our id, as the provider was given it. */
  readonly linkId: string | null
  readonly providerLinkId: string | null
  /** How it ended at the provider other than by being paid. */
  readonly ended: 'cancelled' | 'expired' | null
  readonly payments: readonly PaymentFact[]
}

/** Something that a provider tells. */
export interface News {
  /** The provider's own id of it; null where it gives none. */
  readonly eventId: string | null
  readonly facts: LinkFacts
}

/** A payment of which nothing is known but its id. */
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

/** Facts of nothing that we know. */
export const noFacts: LinkFacts = Object.freeze({ linkId: null, providerLinkId: null, ended: null, payments: [] })
