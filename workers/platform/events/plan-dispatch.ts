import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import type { Subscription, Subscriptions } from '#shared/platform/events/subscription.ts'
import { type Cause, completeCause } from '#shared/platform/kernel/cause.ts'

/** One subscriber's part of a dispatch. */
export interface PlannedDelivery {
  /** The dispatch's id, also the id of the subscriber's job. */
  readonly id: string
  readonly subscriber: string
  readonly subscription: Subscription
  readonly changes: EventDelivery
  /** Cause of the subscriber's job, at the depth of the change; depth 0 for a subscription that ends a chain of automations. */
  readonly cause: Cause
}

/** Plans a dispatch's jobs, one per subscriber. Throws for a subscriber that is not in `subscriptions`. */
export function planDispatch(
  { id, seq: _, cause, listeners, snapshots, ...change }: Dispatch,
  subscriptions: Subscriptions,
): PlannedDelivery[] {
  return Object.entries(listeners).map(([subscriber, listenerIds]) => {
    const subscription = Object.hasOwn(subscriptions, subscriber) ? subscriptions[subscriber] : undefined
    if (!subscription) throw new Error(`Unknown subscriber ${subscriber}`)
    const snapshotField = subscription.snapshots && snapshots ? { snapshots } : {}
    const depth = subscription.continues ? cause.depth : 0
    return {
      id,
      subscriber,
      subscription,
      changes: { ...change, ...snapshotField, listenerIds },
      cause: { ...completeCause(cause), depth },
    }
  })
}
