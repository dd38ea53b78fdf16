import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { boolean, jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { slot, statement } from '#shared/platform/db/statements/statement.ts'
import type { ChangeEvent } from '#shared/platform/events/event-delivery.ts'

/**
 * Inserts the events of the record changes of a statement, one for each, in the order of their audit entries. Used as the statement's table
 * `announced`. The statement must have a table `changed` of the records' own columns, a table `audited` of the audit entries that it wrote
 * (id and record), and slots `workspaceId`, `objectType` and `cause` (JSON). Reading `audited` draws the ids after the records are locked.
 * Values are in the audit entries, but for those of an updated record that did not change: the JSON object in the slot `snapshot` has all
 * of them, null where `wantsSnapshots` found no listener, and the one in the slot `kept` those that conditions on reading test.
 */
export const insertRecordEvents = (event: ChangeEvent): Knex.Raw =>
  event === 'updated' ? recordEvents(event, 'kept, snapshot', '?::text::jsonb, ?::text::jsonb', ['kept', 'snapshot']) : recordEvents(event)

/** The same of records that a recompute updated, which no listener hears. The table `changed` has the column `kept`, for the slots. */
export const insertRecomputeEvents = (): Knex.Raw => recordEvents('updated', 'kept, listeners', `changed.kept, '{}'::jsonb`)

/** `columns` are further columns, `values` their SQL. */
const recordEvents = (event: ChangeEvent, columns?: string, values?: string, slots: readonly string[] = []): Knex.Raw =>
  builder.raw(
    `insert into event_inbox (
       workspace_id, event_id, type, topic, subject_id, created_by, created_at, updated_at, ${columns ? `${columns}, ` : ''}cause
     )
     select ?::uuid, audited.id, 'records.${event}', ?::text, changed.id, created_by, created_at, updated_at, ${values ? `${values}, ` : ''}?::jsonb
     from audited join changed on changed.id = audited.record_id order by audited.id`,
    ['workspaceId', 'objectType', ...slots, 'cause'].map((name) => slot(name)),
  )

/** Parameters of the SQL that `insertRecordEvents` makes for created and deleted records. */
export const recordEventParams = { workspaceId: uuid, objectType: text, cause: jsonb } as const

/** Parameters of the SQL that `insertRecordEvents` makes for updated records. */
export const updateEventParams = { ...recordEventParams, kept: text.orNull, snapshot: text.orNull } as const

/**
 * Inserts events of one kind from a source other than records, in their order; each of the JSON list has `id`, `subject_id`, `subject`,
 * `snapshot`, `data` and `kept`. Listeners are looked up unless `isDelivered` is false.
 */
export const insertAnnounced = statement(
  'events.insertAnnounced',
  `insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, snapshot, data, kept, listeners, cause)
   select $workspaceId::uuid, id, $type::text, $source::text, $event::text, $topic::text, subject_id, subject, snapshot, data, kept,
     case when $isDelivered::boolean then null else '{}'::jsonb end, $cause::text::jsonb
   from rows from (
     jsonb_to_recordset($events::text::jsonb) as (id uuid, subject_id uuid, subject jsonb, snapshot jsonb, data jsonb, kept jsonb)
   ) with ordinality as announced (id, subject_id, subject, snapshot, data, kept, position)
   order by position`,
  {
    params: {
      workspaceId: uuid,
      type: text.orNull,
      source: text,
      event: text,
      topic: text,
      events: text,
      isDelivered: boolean,
      cause: text,
    },
  },
)

/**
 * SQL that inserts events of a feature for its own subscriber, as part of the statement that causes them; `event_listeners` is not
 * consulted. `from` selects an event's `id`, its `type` in the list of events, its `subject_id` and `subject`, and the `listener_id` that it
 * is for; `type` and `listener_id` may be null. The other properties are SQL of parameters, except the names `subscriber` and `event`.
 */
export const insertOwnEvents = ({ subscriber, event, workspace, topic, cause, from }: Filing): string =>
  `insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, listeners, cause)
   select ${workspace}::uuid, filed.id, filed.type, '${subscriber}', '${event}', ${topic}::text, filed.subject_id, filed.subject,
     case when filed.listener_id is null then '{}' else jsonb_build_object('${subscriber}', jsonb_build_array(filed.listener_id)) end,
     ${cause}::text::jsonb
   from (${from}) as filed
   returning event_id`

interface Filing {
  /** The name of a subscriber in shared/features.ts; also the source of the events. */
  readonly subscriber: string
  readonly event: string
  readonly workspace: string
  readonly topic: string
  /** The cause as JSON text. */
  readonly cause: string
  readonly from: string
}

/**
 * SQL that inserts events of a feature for the list of events, as part of the statement that causes them; their listeners are looked up when
 * they are numbered. `from` selects an event's `event`, `topic`, `subject_id`, `subject`, `data`, the values `kept` for deciding who may read
 * it, and its `position`: the order of the events. It must read the changed rows, so that the ids are drawn after they are locked.
 */
export const insertHappenings = ({ source, workspace, cause, from }: Happenings): string =>
  `insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, snapshot, kept, cause)
   select ${workspace}::uuid, uuidv7(), '${source}.' || happened.event, '${source}', happened.event, happened.topic, happened.subject_id,
     happened.subject, happened.data, happened.kept, ${cause}::text::jsonb
   from (${from}) as happened order by happened.position`

interface Happenings {
  /** The first part of the events' types, such as `queues`. */
  readonly source: string
  readonly workspace: string
  /** The cause as JSON text. */
  readonly cause: string
  readonly from: string
}
