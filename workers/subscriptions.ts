import type { HeardChanges } from '#shared/events/change.ts'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import { subscriber as notifications } from '#shared/notifications/rules.ts'
import type { JobDefinition } from '#shared/queue/job.ts'

/** What is done for a subscriber when records change that it listens to. */
export interface Subscription {
  /** Takes all changes of one dispatch together. */
  readonly job: JobDefinition<HeardChanges, unknown>
  /** Whether the job may change records in turn, and so set off others: such a chain is cut at some length. */
  readonly continues: boolean
}

/** Who listens to changes of records, by the name that it calls `listen` with. Nothing else knows both ends of an event. */
export const subscriptions: Readonly<Record<string, Subscription>> = {
  [notifications]: { job: deliverNotifications, continues: false },
}
