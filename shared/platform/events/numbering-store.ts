import { bigint, boolean, integer, jsonb, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { typeSource } from '#shared/platform/events/event-delivery.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import type { StoredCause } from '#shared/platform/kernel/cause.ts'

/** The workspaces with events to number after a workspace, ordered by id. */
export const findInboxWorkspaces = statement(
  'events.findInboxWorkspaces',
  'select listed as "workspaceId" from list_inbox_workspaces($afterId, $limit) as listed order by listed',
  { params: { afterId: uuid, limit: integer }, columns: { workspaceId: uuid.notNull } },
)

/**
 * Locks the heads of workspaces until the transaction ends, except those that another process has locked. `isFollowed` tells whether streams
 * may send the workspace's events.
 */
export const lockHeads = statement(
  'events.lockHeads',
  `select workspace_id as "workspaceId", exists (select from event_streams where workspace_id = head.workspace_id) as "isFollowed"
   from feed_heads as head where workspace_id = any($workspaceIds::uuid[])
   order by workspace_id for update skip locked`,
  { params: { workspaceIds: uuids }, columns: { workspaceId: uuid.notNull, isFollowed: boolean.notNull } },
)

const numberedColumns = {
  workspaceId: uuid.notNull,
  seq: bigint.notNull,
  listeners: jsonb.as<Dispatch['listeners']>(),
  source: text.notNull,
  objectType: text.notNull,
  event: text.notNull,
  entryId: uuid.notNull,
  subjectId: uuid.notNull,
  cause: jsonb.as<StoredCause>(),
  snapshot: jsonb,
  /** Whether the workspace is suspended, and whether earlier deliveries of it wait. */
  isSuspended: boolean,
  hasWaiting: boolean,
  /** Set where the workspace has listeners to types. */
  typed: jsonb.as<{ readonly id: number; readonly type: string; readonly cause: StoredCause; readonly event: TypedEvent }>(),
}

/**
 * The snapshot of an event for listeners to its type: all of it that its delivery does not name otherwise. Instants are as PostgreSQL writes
 * them in JSON. `updatedAt` is of a record, before its deletion.
 */
export type TypedEvent = Omit<StoredEvent, 'id' | 'type' | 'at' | 'subjectId'> & { readonly updatedAt: string | null }

/** A numbered event with the listeners that receive it. */
export type NumberedEvent = RowOf<typeof numberedColumns>

/**
 * Numbers the waiting events with the lowest ids of workspaces whose heads the transaction has locked, at most `perWorkspace` of each, and
 * returns all of them in their order. It must be a statement of its own after the one that locked: it then sees what the last holder of the
 * lock committed. `listeners` are those by subscriber that receive an event, null when there are none; only with them come the other
 * columns. An update without a snapshot is for listeners that want none: one that began to ask while the update was running receives
 * the next one. Which workspaces have listeners to types is found once for all rows.
 */
export const numberEvents = statement(
  'events.numberEvents',
  `with taken as materialized (
     select inbox.*, coalesce(inbox.source, 'records') as from_source, coalesce(inbox.event, substr(inbox.type, 9)) as name,
       head.last_seq + count(inbox.type) over (partition by workspace_id order by inbox.id) as seq
     from take_inbox($workspaceIds::uuid[], $perWorkspace::integer) as inbox join feed_heads as head using (workspace_id)
   ),
   stored as (
     insert into events (workspace_id, seq, id, type, topic, subject_id, created_by, created_at, kept, subject, data, cause)
     select workspace_id, seq, event_id, type, topic, subject_id, created_by, created_at, kept, subject,
       case when source is not null then coalesce(data, snapshot) end, case when source is not null then cause end
     from taken where type is not null
   ),
   moved as (
     update feed_heads as head set last_seq = numbered.seq
     from (select workspace_id, max(seq) as seq from taken group by workspace_id) as numbered
     where head.workspace_id = numbered.workspace_id
   )
   select workspace_id as "workspaceId", taken.seq, heard.listeners, from_source as source, topic as "objectType", name as event,
     event_id as "entryId", subject_id as "subjectId", heard.cause,
     case when wants is not true then null
       when source is null then jsonb_build_object('created_by', created_by, 'created_at', created_at, 'updated_at', updated_at)
         || coalesce(snapshot, '{}')
       else coalesce(snapshot, 'null') end as snapshot,
     case when heard.listeners is not null then (select status = 'suspended' from workspaces where id = workspace_id) end as "isSuspended",
     case when heard.listeners is not null then exists (select from waiting_deliveries as waiting where waiting.workspace_id = taken.workspace_id)
     end as "hasWaiting",
     case when workspace_id = any(array(
       select wanted.id from unnest($workspaceIds::uuid[]) as wanted (id)
       where exists (select from event_listeners as listener where listener.workspace_id = wanted.id and listener.source = '${typeSource}')
     )) and type is not null then jsonb_build_object('id', taken.id, 'type', type, 'cause', taken.cause, 'event', jsonb_build_object(
       'seq', seq, 'topic', topic, 'createdBy', created_by, 'createdAt', created_at, 'updatedAt', updated_at, 'kept', kept,
       'subject', subject, 'data', case when source is not null then coalesce(data, snapshot) end,
       'cause', case when source is not null then taken.cause end
     )) end as typed
   from taken left join lateral (
     select coalesce(taken.listeners, found.listeners) as listeners, coalesce(found.wants, false) as wants, taken.cause
     from (
       select jsonb_object_agg(subscriber, ids) as listeners, bool_or(snapshot) as wants
       from (
         select subscriber, jsonb_agg(distinct listener_id) as ids, bool_or(listener.snapshot) as snapshot
         from event_listeners as listener
         where taken.listeners is null and listener.workspace_id = taken.workspace_id and listener.source = from_source
           and listener.object_type in (topic, '') and listener.event = name and listener.since < taken.id
           and (not listener.snapshot or taken.snapshot is not null or taken.type is distinct from 'records.updated')
         group by subscriber
       ) as of_subscribers
     ) as found
     where coalesce(taken.listeners, found.listeners) <> '{}'
   ) as heard on true
   order by workspace_id, taken.id`,
  {
    params: { workspaceIds: uuids, perWorkspace: integer },
    columns: numberedColumns,
  },
)

/**
 * The listeners by subscriber that receive events by their types, and whether the workspace's deliveries wait, as in `numberEvents`, for
 * events that any receive. `ids` are those of the inbox.
 */
export const findTypeListeners = statement(
  'events.findTypeListeners',
  `select event.workspace_id as "workspaceId", event.id, heard.listeners,
     (select status = 'suspended' from workspaces where workspaces.id = event.workspace_id) as "isSuspended",
     exists (select from waiting_deliveries as waiting where waiting.workspace_id = event.workspace_id) as "hasWaiting"
   from unnest($workspaceIds::uuid[], $ids::text[]::bigint[], $types::text[]) as event (workspace_id, id, type) cross join lateral (
     select jsonb_object_agg(subscriber, ids) as listeners
     from (
       select subscriber, jsonb_agg(distinct listener_id) as ids
       from event_listeners as listener
       where listener.workspace_id = event.workspace_id and listener.source = '${typeSource}' and listener.object_type = ''
         and listener.since < event.id and listener.event = any(array_append(array(
           select array_to_string((string_to_array(event.type, '.'))[:parts], '.') || '.*' from generate_series(1, 3) as parts
         ), event.type))
       group by subscriber
     ) as of_subscribers
   ) as heard
   where heard.listeners is not null
   order by event.workspace_id, event.id`,
  {
    params: { workspaceIds: uuids, ids: texts, types: texts },
    columns: {
      workspaceId: uuid.notNull,
      id: bigint.notNull,
      listeners: jsonb.as<Dispatch['listeners']>().notNull,
      isSuspended: boolean,
      hasWaiting: boolean.notNull,
    },
  },
)

/** Events of one kind with one cause, and the listeners that receive them. See `eventDelivery`. */
export interface Dispatch {
  readonly id: string
  readonly workspaceId: string
  /** The number of the first event; null for one of the previous release. */
  readonly seq: number | null
  readonly source: string
  readonly objectType: string
  readonly event: string
  readonly entryIds: string[]
  readonly subjectIds: string[]
  /** In the order of the events; null where no listener asked for them. */
  readonly snapshots: unknown[] | null
  /** Listener ids by subscriber. */
  readonly listeners: Readonly<Record<string, string[]>>
  readonly cause: StoredCause
}
