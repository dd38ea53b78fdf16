import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { notificationSubscriber as notifications } from '#shared/core/notifications/rules.ts'
import { startRunsOnEventsJob } from '#shared/features/flows/jobs.ts'
import { flowSubscriber as flows } from '#shared/features/flows/triggers/subscribe.ts'
import { formsSubscriber as forms, processSubmissionsJob } from '#shared/features/forms/jobs.ts'
import { intakeSubscriber as queues } from '#shared/features/queues/definitions/queues.ts'
import { intakeRecordChanges } from '#shared/features/queues/jobs.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'

/** The job that delivers events to a subscriber. */
export interface Subscription {
  /** Receives all events of one dispatch together. */
  readonly job: JobDefinition<EventDelivery, unknown>
  /**
   * Whether the job may cause further automations. Then it keeps the depth of its cause; each step that adds to the chain, such as a flow,
   * increments it and cuts a chain that is too long. A job that ends every chain starts at depth 0.
   */
  readonly continues: boolean
  /** Whether the job receives snapshots where its listeners request them. */
  readonly snapshots?: true
}

/** Subscriptions by the name that the subscriber passes to `listen`. Only this table knows both ends of an event. */
export const subscriptions: Readonly<Record<string, Subscription>> = {
  [notifications]: { job: deliverNotificationsJob, continues: false },
  [flows]: { job: startRunsOnEventsJob, continues: true, snapshots: true },
  [queues]: { job: intakeRecordChanges, continues: true, snapshots: true },
  [forms]: { job: processSubmissionsJob, continues: true },
}
