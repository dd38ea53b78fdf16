import { schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Changes of a record. An audit entry's action is `record.` followed by one of these. */
export const changeEvents = ['created', 'updated', 'deleted'] as const
export type ChangeEvent = (typeof changeEvents)[number]

/** Source of record changes. Other features announce events under their own source (`announceEvents`). */
export const recordSource = 'records'

/**
 * Source of all events of the list, for listeners to their types, such as `records.created` or `records.*`. Their topic is empty, and their
 * snapshot is a `TypedEvent`.
 */
export const typeSource = 'feed'

const ids = t.Array(uuid, { minItems: 1 })

const deliveryFields = {
  workspaceId: uuid,
  /** Source of the events: `records`, or the feature that announced them, such as `calendar`. */
  source: t.String({ default: recordSource }),
  /** Key of the record type; for other sources the announced topic, such as a calendar's key. */
  objectType: t.String(),
  /** Name of the event: a `ChangeEvent` of records, or a name of another source. */
  event: t.String(),
  /** Ids of the events, all of one kind, for use as deduplication keys; for record changes the ids of the audit entries. */
  entryIds: ids,
  /** Ids of the events' subjects, such as records or calendar events, in the order of the events. */
  subjectIds: t.Array(uuid, { default: [] }),
  /**
   * The subjects as they were at the events, in the same order, where the subscription takes snapshots and a listener asked for them. For
   * records `readSnapshots` (shared/core/records/snapshots.ts) reads them; other sources announce them.
   */
  snapshots: t.Optional(t.Array(t.Unknown())),
}

/** Payload of a subscriber's job: events, and the ids of the subscriber's listeners that receive them, such as rules. */
export const eventDelivery = schema(t.Object({ ...deliveryFields, listenerIds: ids }))
/** What operators see of a delivery: all but the snapshots, which hold values. */
export const visibleOfDelivery = ['workspaceId', 'source', 'objectType', 'event', 'entryIds', 'subjectIds', 'listenerIds'] as const
export type EventDelivery = TypeOf<typeof eventDelivery>
