import { nullable, t } from '#shared/platform/kernel/schema.ts'

const uuid = t.String({ format: 'uuid' })
const instant = t.String({ format: 'date-time' })

/** The claimer's id and the instant at which the claim would have expired. */
interface PreviousClaim {
  readonly by: string
  readonly expires_at: string
}

/** The claim that a move or release ended without its token; null when no claim was active or the token was sent. */
export const previousClaim = nullable(
  t.Object(
    { by: uuid, expires_at: instant },
    { title: 'PreviousQueueClaim', description: 'The claim that this change ended without its token; null when there was none.' },
  ),
)

/** `PreviousClaim` as columns of a row. */
export interface PreviousClaimRow {
  readonly previous_claimer_id: string | null
  readonly previous_claim_until: string | null
}

export const previousClaimOf = ({ previous_claimer_id: by, previous_claim_until: until }: PreviousClaimRow): PreviousClaim | null =>
  by === null || until === null ? null : { by, expires_at: until }
