import { deliverNotifications } from '#shared/core/notifications/jobs.ts'
import { subscriber as notifications } from '#shared/core/notifications/rules.ts'
import { heardEvents } from '#shared/features/flows/jobs.ts'
import { subscriber as flows } from '#shared/features/flows/triggers/subscribe.ts'
import { followSubmissions, subscriber as forms } from '#shared/features/forms/jobs.ts'
import { subscriber as queues } from '#shared/features/queues/definitions/queues.ts'
import { takeIn } from '#shared/features/queues/jobs.ts'
import type { HeardChanges } from '#shared/platform/events/event-delivery.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'

/** What is done for a subscriber when something happens that it listens to. */
export interface Subscription {
  /** Takes all events of one dispatch together. */
  readonly job: JobDefinition<HeardChanges, unknown>
  /**
   * Whether the job may set off others in turn: then it carries the depth of its cause on, and whoever adds a step to the chain, such as a
   * flow, counts it and ends what has grown too long. What ends every chain by itself begins at 0.
   */
  readonly continues: boolean
  /** Whether the job takes snapshots, where its listeners ask for them. */
  readonly snapshots?: true
}

/** Who listens to events, by the name that it calls `listen` with. Nothing else knows both ends of an event. */
export const subscriptions: Readonly<Record<string, Subscription>> = {
  [notifications]: { job: deliverNotifications, continues: false },
  [flows]: { job: heardEvents, continues: true, snapshots: true },
  [queues]: { job: takeIn, continues: true, snapshots: true },
  [forms]: { job: followSubmissions, continues: true },
}
