/** The claimer's id and the instant at which the claim would have expired. */
interface PreviousClaim {
  readonly by: string
  readonly expires_at: string
}

/** `PreviousClaim` as columns of a row. */
export interface PreviousClaimRow {
  readonly previous_claimer_id: string | null
  readonly previous_claim_until: string | null
}

export const previousClaimOf = ({ previous_claimer_id: by, previous_claim_until: until }: PreviousClaimRow): PreviousClaim | null =>
  by === null || until === null ? null : { by, expires_at: until }
