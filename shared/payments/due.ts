import { defineDue } from '#shared/due/kind.ts'
import { expireLink, sweepConnection } from '#shared/payments/jobs.ts'

/** How often a provider is asked what happened, in milliseconds: what no webhook told is found within 15 minutes (decisions, Payments). */
const sweepEveryMs = 5 * 60_000

/** When a provider is asked next. */
export const nextSweep = (now: Date): Date => new Date(now.getTime() + sweepEveryMs)

/** A connection's provider is asked, by the connection's id. Money that moved is written down whatever else rests (decisions, In the background). */
export const sweepDue = defineDue({
  name: 'payments.sweep',
  job: sweepConnection,
  payload: ({ subject }) => ({ connectionId: subject }),
  again: (_work, now) => nextSweep(now),
})

/** A link's time is up, by the link's id. */
export const expiryDue = defineDue({
  name: 'payments.expiry',
  job: expireLink,
  payload: ({ subject }) => ({ linkId: subject }),
})

/** What of payments falls due. */
export const paymentsDue = [sweepDue, expiryDue]
