import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { boolean, booleans, integer, jsonb, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { slot, statement } from '#shared/platform/db/statements/statement.ts'
import type { ChangeEvent } from '#shared/platform/events/event-delivery.ts'
import type { StoredCause } from '#shared/platform/kernel/cause.ts'

/**
 * Inserts a dispatch of the record changes of a statement, if they have listeners. Used as the statement's table `dispatched`. The
 * statement must have a table `changed` of the records' own columns, a table `audited` of the audit entries that it wrote (id and record),
 * and slots `workspaceId`, `objectType` and `cause` (JSON). Snapshots are stored only when a listener asks for them. The values of a
 * created or deleted record are not stored in them, since its audit entry holds them. What is stored besides of an updated record is the
 * JSON object in the slot `snapshot`, null where `wantsSnapshots` found no listener; a listener that began to ask while that update was
 * running receives the next one.
 */
export const insertDispatch = (event: ChangeEvent): Knex.Raw => {
  const ofUpdate = event === 'updated'
  return builder.raw(
    `insert into event_outbox (workspace_id, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
     select ?::uuid, ?::text, '${event}', array(select id from audited order by id), array(select record_id from audited order by id),
       case when bool_or(snapshot) then (
         select jsonb_agg(
           jsonb_build_object('created_by', changed.created_by, 'created_at', changed.created_at, 'updated_at', changed.updated_at)
           ${ofUpdate ? `|| ?::text::jsonb` : ''} order by audited.id)
         from audited join changed on changed.id = audited.record_id
       ) end,
       jsonb_object_agg(subscriber, ids), ?::jsonb
     from (
       select subscriber, jsonb_agg(listener_id order by listener_id) as ids, bool_or(snapshot) as snapshot
       from event_listeners
       where workspace_id = ?::uuid and source = 'records' and object_type = ?::text and event = '${event}'
         ${ofUpdate ? 'and (not snapshot or ?::text is not null)' : ''}
       group by subscriber
     ) as subscribed
     having count(*) > 0 and exists (select from audited)
     returning id`,
    ['workspaceId', 'objectType', ...snapshotOf(ofUpdate), 'cause', 'workspaceId', 'objectType', ...snapshotOf(ofUpdate)].map((name) =>
      slot(name),
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
 * Inserts a dispatch of events of a source other than records, if they have listeners; returns no row if they have none. `entryIds`,
 * `subjectIds` and the JSON list `snapshots` have one element for each event.
 */
export const insertEvents = statement(
  'events.insertEvents',
  `insert into event_outbox (workspace_id, source, object_type, event, entry_ids, subject_ids, snapshots, listeners, cause)
   select $workspaceId::uuid, $source::text, ($topics::text[])[1], $event::text, $entryIds::uuid[], $subjectIds::uuid[],
     case when bool_or(snapshot) then $snapshots::text::jsonb end, jsonb_object_agg(subscriber, ids), $cause::text::jsonb
   from (
     select subscriber, jsonb_agg(distinct listener_id) as ids, bool_or(snapshot) as snapshot
     from event_listeners
     where workspace_id = $workspaceId and source = $source and object_type = any($topics::text[]) and event = $event
     group by subscriber
   ) as subscribed
   having count(*) > 0
   returning id`,
  {
    params: {
      workspaceId: uuid,
      source: text,
      topics: texts,
      event: text,
      entryIds: uuids,
      subjectIds: uuids,
      snapshots: text,
      cause: text,
    },
    columns: { id: uuid.notNull },
  },
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
 * Inserts the events that a listener receives. `sources`, `objectTypes` (type keys or topics), `events` and `wantSnapshots` have one
 * element for each event.
 */
export const insertListeners = statement(
  'events.insertListeners',
  `insert into event_listeners (workspace_id, subscriber, listener_id, source, object_type, event, snapshot)
   select $workspaceId::uuid, $subscriber, $listenerId::uuid, source, object_type, event, bool_or(snapshot)
   from unnest($sources::text[], $objectTypes::text[], $events::text[], $wantSnapshots::boolean[])
     as listened (source, object_type, event, snapshot)
   group by source, object_type, event`,
  {
    params: {
      workspaceId: uuid,
      subscriber: text,
      listenerId: uuid,
      sources: texts,
      objectTypes: texts,
      events: texts,
      wantSnapshots: booleans,
    },
  },
)

/** Deletes the events that a listener receives. */
export const deleteListeners = statement(
  'events.deleteListeners',
  'delete from event_listeners where workspace_id = $workspaceId and subscriber = $subscriber and listener_id = $listenerId',
  { params: { workspaceId: uuid, subscriber: text, listenerId: uuid } },
)

/** The distinct events of a source that have listeners. */
export const findListened = statement(
  'events.findListened',
  `select distinct object_type as "objectType", event from event_listeners where workspace_id = $workspaceId and source = $source
   order by "objectType", event`,
  { params: { workspaceId: uuid, source: text }, columns: { objectType: text.notNull, event: text.notNull } },
)

/** The keys of the record types with a listener that wants snapshots of updates. */
export const findSnapshotTypes = statement(
  'events.findSnapshotTypes',
  `select distinct object_type as "objectType" from event_listeners
   where workspace_id = $workspaceId and source = 'records' and event = 'updated' and snapshot`,
  { params: { workspaceId: uuid }, columns: { objectType: text.notNull } },
)

/** The workspaces with waiting dispatches after a workspace, ordered by id, and whether each is suspended: null if it does not exist. */
export const findWaitingWorkspaces = statement(
  'events.findWaitingWorkspaces',
  `select listed as "workspaceId", (select status = 'suspended' from workspaces where id = listed) as "isSuspended"
   from list_dispatch_workspaces($afterId, $limit) as listed order by listed`,
  { params: { afterId: uuid, limit: integer }, columns: { workspaceId: uuid.notNull, isSuspended: boolean } },
)

const dispatchColumns = {
  id: uuid.notNull,
  workspaceId: uuid.notNull,
  source: text.notNull,
  objectType: text.notNull,
  event: text.notNull,
  entryIds: uuids.notNull,
  subjectIds: uuids.notNull,
  /** In the order of the events; null where no listener asked for them. */
  snapshots: jsonb.as<unknown[]>(),
  /** Listener ids by subscriber. */
  listeners: jsonb.as<Readonly<Record<string, string[]>>>().notNull,
  cause: jsonb.as<StoredCause>().notNull,
}

/** Events of one kind that one statement announced, and the listeners at that time. See `eventDelivery`. */
export type Dispatch = RowOf<typeof dispatchColumns>

/**
 * Takes the oldest dispatches of each workspace, at most `perWorkspace`, except those that another transaction has locked. Their rows are
 * deleted when the transaction commits, and wait again when it fails. A dispatch with a subscriber that is not in `known` is left to a
 * process that knows it.
 */
export const takeDispatches = statement(
  'events.takeDispatches',
  `select id, workspace_id as "workspaceId", source, object_type as "objectType", event, entry_ids as "entryIds",
     subject_ids as "subjectIds", snapshots, listeners, cause
   from take_dispatches($known, $workspaceIds, $perWorkspace) order by id`,
  { params: { known: texts, workspaceIds: uuids, perWorkspace: integer }, columns: dispatchColumns },
)
