import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { slot, sql } from '#shared/platform/db/statements/statement.ts'
import type { ChangeEvent } from '#shared/platform/events/event-delivery.ts'

/**
 * Files a dispatch of a statement's changes when anything listens to them. It is the statement's table `dispatched`; the statement has a
 * table `changed` of the records' own columns, a table `audited` of the ids of the audit entries that it wrote and their records, and slots
 * `workspaceId`, `objectType` and `cause`, the cause as JSON. A snapshot is made only when a listener asks for one, of what is at hand: the
 * audit entry of a creation or deletion holds the values themselves, so it says the rest; an update's are in the slot `snapshot`, null where
 * `wantsSnapshots` knew of nobody. Who began to ask while that update was under way hears of the next one.
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

/** Whether the statement filed one. */
export const dispatchedColumn = 'exists (select from dispatched) as dispatched'

/**
 * Files a dispatch of events of another source when anything listens. Values: workspace, source, topics, event, ids of the events, as many
 * ids of what they are about, their snapshots as a JSON list, the cause as JSON.
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
 * The insertion that files a room's events for itself, in the statement that makes them so: one subscriber hears of them whatever else
 * listens. `from` selects an event's `id`, its `subject_id`, and the `listener_id` that it is for; the rest are parameters.
 */
export const insertOwnEvents = ({ subscriber, event, workspace, topic, cause, from }: Filing): string =>
  `insert into event_outbox (workspace_id, source, object_type, event, entry_ids, subject_ids, listeners, cause)
   select ${workspace}::uuid, '${subscriber}', ${topic}::text, '${event}', array[filed.id], array[filed.subject_id],
     jsonb_build_object('${subscriber}', jsonb_build_array(filed.listener_id)), ${cause}::text::jsonb
   from (${from}) as filed
   returning id`

interface Filing {
  /** A name in shared/features.ts, which is the source of the events too. */
  readonly subscriber: string
  readonly event: string
  readonly workspace: string
  readonly topic: string
  /** The cause as JSON text. */
  readonly cause: string
  readonly from: string
}

/**
 * Lets something listen. Values: workspace, subscriber, its id, and as many sources, type keys or topics, events, and whether it wants
 * snapshots of them.
 */
export const insertListeners = sql(
  'insert_listeners',
  `insert into event_listeners (workspace_id, subscriber, listener_id, source, object_type, event, snapshot)
   select $1::uuid, $2, $3::uuid, source, object_type, event, bool_or(snapshot)
   from unnest($4::text[], $5::text[], $6::text[], $7::boolean[]) as heard (source, object_type, event, snapshot)
   group by source, object_type, event`,
)

/** Lets it listen to nothing. Values: workspace, subscriber, its id. */
export const deleteListeners = sql(
  'delete_listeners',
  'delete from event_listeners where workspace_id = $1 and subscriber = $2 and listener_id = $3',
)

/** What of a source anybody listens to. Values: workspace, source. */
export const findListened = sql(
  'find_listened',
  `select distinct object_type as "objectType", event from event_listeners where workspace_id = $1 and source = $2
   order by "objectType", event`,
)

/** The record types of whose updates somebody wants snapshots. Values: workspace. */
export const findSnapshotTypes = sql(
  'find_snapshot_types',
  `select distinct object_type as "objectType" from event_listeners
   where workspace_id = $1 and source = 'records' and event = 'updated' and snapshot`,
)

/**
 * The workspaces whose changes wait, in the order of their ids, and whether each is suspended. Values: the workspace to go on after, how many
 * at most.
 */
export const selectWaitingWorkspaces = sql(
  'find_event_lines',
  `select line as "workspaceId", (select status = 'suspended' from workspaces where id = line) as "isSuspended"
   from event_lines($1, $2) as line order by line`,
)

/**
 * Takes the oldest dispatches of some workspaces that nobody else is taking. Values: subscribers that are known, workspaces, how many of
 * each at most.
 */
export const takeDispatchRows = sql(
  'take_changes',
  `select id, workspace_id as "workspaceId", source, object_type as "objectType", event, entry_ids as "entryIds",
     subject_ids as "subjectIds", snapshots, listeners, cause
   from take_changes($1, $2, $3) order by id`,
)
