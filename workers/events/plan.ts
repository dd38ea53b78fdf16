import type { HeardChanges } from '#shared/events/change.ts'
import type { Dispatch } from '#shared/events/outbox.ts'
import { type Cause, maxDepth } from '#shared/kernel/cause.ts'
import type { Subscription } from '#workers/subscriptions.ts'

/** One subscriber's part in a dispatch. */
export interface Part {
  /** The dispatch's own id, which is its job's in the subscriber's queue. */
  readonly id: string
  readonly subscriber: string
  readonly subscription: Subscription
  readonly changes: HeardChanges
  /** The cause of the subscriber's job: one step further from the first request when the job goes on with the chain. */
  readonly cause: Cause
  /** Whether the chain of automations is too long for this step, and so taken for a loop (design, Events). */
  readonly isCut: boolean
}

/** What is to be done about a dispatch. Throws when a subscriber listens that the table does not have. */
export function planOf({ id, cause, listeners, ...change }: Dispatch, subscriptions: Readonly<Record<string, Subscription>>): Part[] {
  return Object.entries(listeners).map(([subscriber, listenerIds]) => {
    const subscription = Object.hasOwn(subscriptions, subscriber) ? subscriptions[subscriber] : undefined
    if (!subscription) throw new Error(`Nothing is known of the subscriber ${subscriber}`)
    const isCut = subscription.continues && cause.depth >= maxDepth
    // What ends a chain is done however long it is.
    const depth = subscription.continues ? cause.depth + 1 : 0
    return { id, subscriber, subscription, changes: { ...change, listenerIds }, cause: { ...cause, depth }, isCut }
  })
}
