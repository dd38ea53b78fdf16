import { expireLinkJob, sweepConnectionJob } from '#shared/features/payments/jobs.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

/**
 * Interval in milliseconds at which a provider is asked for events (a sweep). Events that no webhook delivered must be found within 15
 * minutes (docs/contract/payments.md#sweep).
 */
const sweepIntervalMs = 5 * minuteMs

/** The time of the next sweep. */
export const nextSweep = (now: Date): Date => new Date(now.getTime() + sweepIntervalMs)

/**
 * Asks a connection's provider for new events; the subject is the connection's id. Payments are recorded even while the workspace's other
 * work is deferred (docs/contract/payments.md#suspension-and-apps).
 */
export const sweepDue = defineDue({
  name: 'payments.sweep',
  job: sweepConnectionJob,
  payload: ({ subject }) => ({ connectionId: subject }),
  nextTime: (_work, now) => nextSweep(now),
})

/** Expires a link; the subject is the link's id. */
export const expiryDue = defineDue({
  name: 'payments.expiry',
  job: expireLinkJob,
  payload: ({ subject }) => ({ linkId: subject }),
})

/** The due kinds of payments. */
export const paymentsDue = [sweepDue, expiryDue]
