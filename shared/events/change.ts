import { schema, type TypeOf, t } from '#shared/kernel/schema.ts'

/** What can happen to a record. An audit entry's action is `record.` and one of these. */
export const changeEvents = ['created', 'updated', 'deleted'] as const
export type ChangeEvent = (typeof changeEvents)[number]

/** The source of events that are changes of records; another room announces its own under its own name (`announceEvents`). */
export const recordSource = 'records'

const ids = t.Array(t.String({ format: 'uuid' }), { minItems: 1 })

const change = {
  workspaceId: t.String({ format: 'uuid' }),
  /** Where the events come from: `records`, or the room that announced them, such as `calendar`. */
  source: t.String({ default: recordSource }),
  /** The key of the record type; of another source the topic under which it was announced, such as a calendar's key. */
  objectType: t.String(),
  /** What happened: of records a `ChangeEvent`, of another source its own word. */
  event: t.String(),
  /** The ids of the events, which are the natural keys of what is done about them: of changes of records the audit entries. All of one kind. */
  entryIds: ids,
  /** What the events are about, in their order: the records, the calendar events. */
  subjectIds: t.Array(t.String({ format: 'uuid' }), { default: [] }),
  /**
   * What the subjects were like when the events happened, in their order, for a subscription that takes them and where a listener asked:
   * of records what `readSnapshots` (shared/records/snapshots.ts) reads, of another source what it announced.
   */
  snapshots: t.Optional(t.Array(t.Unknown())),
}

/** Events as one subscriber's job takes them: `listenerIds` are what of its own they concern, such as its rules. */
export const heardChanges = schema(t.Object({ ...change, listenerIds: ids }))
export type HeardChanges = TypeOf<typeof heardChanges>
