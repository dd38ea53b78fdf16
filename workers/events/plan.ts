import type { HeardChanges } from '#shared/events/change.ts'
import type { Dispatch } from '#shared/events/outbox.ts'
import type { Cause } from '#shared/kernel/cause.ts'
import type { Subscription } from '#workers/subscriptions.ts'

/** One subscriber's part in a dispatch. */
export interface Part {
  /** The dispatch's own id, which is its job's in the subscriber's queue. */
  readonly id: string
  readonly subscriber: string
  readonly subscription: Subscription
  readonly changes: HeardChanges
  /** The cause of the subscriber's job, as far along the chain as the change itself; what ends a chain begins anew. */
  readonly cause: Cause
}

/** What is to be done about a dispatch. Throws when a subscriber listens that the table does not have. */
export function planOf(
  { id, cause, listeners, snapshots, ...change }: Dispatch,
  subscriptions: Readonly<Record<string, Subscription>>,
): Part[] {
  return Object.entries(listeners).map(([subscriber, listenerIds]) => {
    const subscription = Object.hasOwn(subscriptions, subscriber) ? subscriptions[subscriber] : undefined
    if (!subscription) throw new Error(`Nothing is known of the subscriber ${subscriber}`)
    const taken = subscription.snapshots && snapshots ? { snapshots } : {}
    const depth = subscription.continues ? cause.depth : 0
    return { id, subscriber, subscription, changes: { ...change, ...taken, listenerIds }, cause: { ...cause, depth } }
  })
}
