import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { boolean, jsonb, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { slot, sql } from '#shared/platform/db/statements/statement.ts'
import type { ChangeEvent } from '#shared/platform/events/event-delivery.ts'

/**
 * Inserts a dispatch of the record changes of a statement, if they have listeners. Used as the statement's table `dispatched`. The
 * statement must have a table `changed` of the records' own columns, a table `audited` of the audit entries that it wrote (id and record),
 * and slots `workspaceId`, `objectType` and `cause` (JSON). Snapshots are stored only when a listener asks for them. The values of a
 * created or deleted record are not stored in them, since its audit entry holds them. Those of an updated record are in the slot
 * `snapshot`, null where `wantsSnapshots` found no listener; a listener that began to ask while that update was running receives the next
 * one.
 */
export const insertDispatch = (event: ChangeEvent): Knex.Raw => {
  const ofUpdate = event === 'updated'
  return builder.raw(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
     select ?::uuid, ?::text, '${event}', array(select id from audited order by id), array(select record_id from audited order by id),
       case when bool_or(snapshot) then (
         select jsonb_agg(
           jsonb_build_object('created_by', changed.created_by, 'created_at', changed.created_at, 'updated_at', changed.updated_at)
           ${ofUpdate ? `|| jsonb_build_object('values', ?::text::jsonb)` : ''} order by audited.id)
         from audited join changed on changed.id = audited.record_id
       ) end,
       jsonb_object_agg(subscriber, ids), ?::jsonb
     from (
       select subscriber, jsonb_agg(listener_id order by listener_id) as ids, bool_or(snapshot) as snapshot
       from event_listeners
       where workspace_id = ?::uuid and source = 'records' and object_type = ?::text and event = '${event}'
         ${ofUpdate ? 'and (not snapshot or ?::text is not null)' : ''}
       group by subscriber
     ) as heard
     having count(*) > 0 and exists (select from audited)
     returning id`,
    ['workspaceId', 'objectType', ...snapshotOf(ofUpdate), 'cause', 'workspaceId', 'objectType', ...snapshotOf(ofUpdate)].map(
      (name) => slot(name) as never,
    ),
  )
}

const snapshotOf = (ofUpdate: boolean): string[] => (ofUpdate ? ['snapshot'] : [])

/** Parameters of the SQL that `insertDispatch` makes for created and deleted records. */
export const dispatchParams = { workspaceId: uuid, objectType: text, cause: jsonb } as const

/** Parameters of the SQL that `insertDispatch` makes for updated records. */
export const updateDispatchParams = { ...dispatchParams, snapshot: text.orNull } as const

/** The column that says whether the statement inserted a dispatch. */
export const dispatchedColumn = 'exists (select from dispatched) as dispatched'
export const dispatchedColumns = { dispatched: boolean.notNull } as const

/**
 * Inserts a dispatch of events of a source other than records, if they have listeners. Values: workspace, source, topics, event, ids of the
 * events, a subject's id for each, their snapshots as a JSON list, the cause as JSON.
 */
export const insertEvents = sql(
  'insert_events',
  `insert into event_outbox (workspace_id, source, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
   select $1::uuid, $2::text, ($3::text[])[1], $4::text, $5::uuid[], $6::uuid[],
     case when bool_or(snapshot) then $7::text::jsonb end, jsonb_object_agg(subscriber, ids), $8::text::jsonb
   from (
     select subscriber, jsonb_agg(distinct listener_id) as ids, bool_or(snapshot) as snapshot
     from event_listeners
     where workspace_id = $1 and source = $2 and object_type = any($3::text[]) and event = $4
     group by subscriber
   ) as heard
   having count(*) > 0
   returning id`,
)

/**
 * SQL that inserts events of a feature for its own subscriber, as part of the statement that causes them; `event_listeners` is not
 * consulted. `from` selects an event's `id`, its `subject_id`, and the `listener_id` that it is for; the other properties are SQL of
 * parameters, except the names `subscriber` and `event`.
 */
export const insertOwnEvents = ({ subscriber, event, workspace, topic, cause, from }: Filing): string =>
  `insert into event_outbox (workspace_id, source, object_type, event, entry_ids, subject_ids, listeners, cause)
   select ${workspace}::uuid, '${subscriber}', ${topic}::text, '${event}', array[filed.id], array[filed.subject_id],
     jsonb_build_object('${subscriber}', jsonb_build_array(filed.listener_id)), ${cause}::text::jsonb
   from (${from}) as filed
   returning id`

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
 * Inserts the events that a listener receives. Values: workspace, subscriber, the listener's id, and lists of equal length: sources, type
 * keys or topics, events, and whether the listener wants snapshots.
 */
export const insertListeners = sql(
  'insert_listeners',
  `insert into event_listeners (workspace_id, subscriber, listener_id, source, object_type, event, snapshot)
   select $1::uuid, $2, $3::uuid, source, object_type, event, bool_or(snapshot)
   from unnest($4::text[], $5::text[], $6::text[], $7::boolean[]) as heard (source, object_type, event, snapshot)
   group by source, object_type, event`,
)

/** Deletes a listener. Values: workspace, subscriber, the listener's id. */
export const deleteListeners = sql(
  'delete_listeners',
  'delete from event_listeners where workspace_id = $1 and subscriber = $2 and listener_id = $3',
)

/** The distinct events of a source that have listeners. Values: workspace, source. */
export const findListened = sql(
  'find_listened',
  `select distinct object_type as "objectType", event from event_listeners where workspace_id = $1 and source = $2
   order by "objectType", event`,
)

/** The keys of the record types with a listener that wants snapshots of updates. Values: workspace. */
export const findSnapshotTypes = sql(
  'find_snapshot_types',
  `select distinct object_type as "objectType" from event_listeners
   where workspace_id = $1 and source = 'records' and event = 'updated' and snapshot`,
)

/**
 * The workspaces with waiting dispatches, ordered by id, and whether each is suspended. Values: the workspace to continue after, the most
 * workspaces.
 */
export const selectWaitingWorkspaces = sql(
  'find_event_lines',
  `select line as "workspaceId", (select status = 'suspended' from workspaces where id = line) as "isSuspended"
   from event_lines($1, $2) as line order by line`,
)

/**
 * Takes the oldest dispatches of some workspaces, except those that another transaction has locked or that name a subscriber that is not
 * known. Values: known subscribers, workspaces, the most dispatches of each.
 */
export const takeDispatchRows = sql(
  'take_changes',
  `select id, workspace_id as "workspaceId", source, object_type as "objectType", event, entry_ids as "entryIds",
     subject_ids as "subjectIds", snapshots, listeners, cause
   from take_changes($1, $2, $3) order by id`,
)
