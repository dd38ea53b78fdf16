import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'

/** The job that delivers events to a subscriber. */
export interface Subscription {
  /** Receives all events of one dispatch together. */
  readonly job: JobDefinition<EventDelivery, unknown>
  /**
   * Whether the job may cause further automations. If so, it keeps the depth of its cause; each step that adds to the chain, such as a
   * flow, increments the depth and cuts a chain that is too long. A job that causes none starts at depth 0.
   */
  readonly continues: boolean
  /** Whether the job receives snapshots where its listeners request them. */
  readonly snapshots?: true
}

/** Subscriptions by the name that the subscriber passes to `listen`. */
export type Subscriptions = Readonly<Record<string, Subscription>>
