import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { notificationSubscriber as notifications } from '#shared/core/notifications/rules.ts'
import { startRunsOnEventsJob } from '#shared/features/flows/jobs.ts'
import { flowSubscriber as flows } from '#shared/features/flows/triggers/subscribe.ts'
import { formsSubscriber as forms, processSubmissionsJob } from '#shared/features/forms/jobs.ts'
import { intakeSubscriber as queues } from '#shared/features/queues/definitions/queues.ts'
import { intakeRecordChanges } from '#shared/features/queues/jobs.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'

/** What is done for a subscriber when something happens that it listens to. */
export interface Subscription {
  /** Takes all events of one dispatch together. */
  readonly job: JobDefinition<EventDelivery, unknown>
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
  [notifications]: { job: deliverNotificationsJob, continues: false },
  [flows]: { job: startRunsOnEventsJob, continues: true, snapshots: true },
  [queues]: { job: intakeRecordChanges, continues: true, snapshots: true },
  [forms]: { job: processSubmissionsJob, continues: true },
}
