import type { PreviousClaimRow } from '#shared/features/queues/store.ts'

/** The claimer's id and the instant at which the claim would have expired. */
interface PreviousClaim {
  readonly by: string
  readonly expires_at: string
}

export const previousClaimOf = ({ previous_claimer_id: by, previous_claim_until: until }: PreviousClaimRow): PreviousClaim | null =>
  by === null || until === null ? null : { by, expires_at: until }
