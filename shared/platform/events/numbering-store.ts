import { bigint, boolean, integer, jsonb, type RowOf, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
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

/** Locks the heads of workspaces until the transaction ends, except those that another process has locked. */
export const lockHeads = statement(
  'events.lockHeads',
  `select workspace_id as "workspaceId" from feed_heads where workspace_id = any($workspaceIds::uuid[])
   order by workspace_id for update skip locked`,
  { params: { workspaceIds: uuids }, columns: { workspaceId: uuid.notNull } },
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
  /** The listeners by subscriber that receive the event by its type, null when there are none, and what they receive. */
  typeListeners: jsonb.as<Dispatch['listeners']>(),
  type: text,
  typedEvent: jsonb.as<TypedEvent>(),
  snapshot: jsonb,
  /** Whether the workspace is suspended, and whether earlier deliveries of it wait. */
  isSuspended: boolean,
  hasWaiting: boolean,
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
 * lock committed. `listeners` are those by subscriber that receive an event, null when there are none; only with them, or with
 * `typeListeners`, come the other columns. Workspaces without listeners to types are found once for the whole statement. An update without a snapshot is for listeners that want none: one that began to ask while the update was running receives
 * the next one.
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
   ),
   hearing as materialized (
     select array(
       select id from unnest($workspaceIds::uuid[]) as id
       where exists (select from event_listeners as listener where listener.workspace_id = id and listener.source = '${typeSource}')
     ) as workspaces
   ),
   typed as (
     select taken.*, case when type is not null and workspace_id = any(hearing.workspaces) then (
         select jsonb_object_agg(subscriber, ids)
         from (
           select subscriber, jsonb_agg(distinct listener_id) as ids
           from event_listeners as listener
           where listener.workspace_id = taken.workspace_id and listener.source = '${typeSource}' and listener.object_type = ''
             and listener.since < taken.id and listener.event = any(array_append(array(
               select array_to_string((string_to_array(type, '.'))[:parts], '.') || '.*' from generate_series(1, 3) as parts
             ), type))
           group by subscriber
         ) as of_subscribers
       ) end as type_listeners
     from taken cross join hearing
   )
   select workspace_id as "workspaceId", typed.seq, heard.listeners, from_source as source, topic as "objectType", name as event,
     event_id as "entryId", subject_id as "subjectId", case when is_heard then typed.cause end as cause, type_listeners as "typeListeners",
     case when type_listeners is not null then type end as type,
     case when type_listeners is not null then jsonb_build_object(
       'seq', seq, 'topic', topic, 'createdBy', created_by, 'createdAt', created_at, 'updatedAt', updated_at, 'kept', kept,
       'subject', subject, 'data', case when source is not null then snapshot end, 'cause', case when source is not null then typed.cause end
     ) end as "typedEvent",
     case when wants is not true then null
       when source is null then jsonb_build_object('created_by', created_by, 'created_at', created_at, 'updated_at', updated_at)
         || coalesce(snapshot, '{}')
       else coalesce(snapshot, 'null') end as snapshot,
     case when is_heard then (select status = 'suspended' from workspaces where id = workspace_id) end as "isSuspended",
     case when is_heard then exists (select from waiting_deliveries as waiting where waiting.workspace_id = typed.workspace_id)
     end as "hasWaiting"
   from typed left join lateral (
     select coalesce(typed.listeners, found.listeners) as listeners, coalesce(found.wants, false) as wants
     from (
       select jsonb_object_agg(subscriber, ids) as listeners, bool_or(snapshot) as wants
       from (
         select subscriber, jsonb_agg(distinct listener_id) as ids, bool_or(listener.snapshot) as snapshot
         from event_listeners as listener
         where typed.listeners is null and listener.workspace_id = typed.workspace_id and listener.source = from_source
           and listener.object_type in (topic, '') and listener.event = name and listener.since < typed.id
           and (not listener.snapshot or typed.snapshot is not null or typed.type is distinct from 'records.updated')
         group by subscriber
       ) as of_subscribers
     ) as found
     where coalesce(typed.listeners, found.listeners) <> '{}'
   ) as heard on true cross join lateral (select heard.listeners is not null or type_listeners is not null as is_heard) as either
   order by workspace_id, typed.id`,
  {
    params: { workspaceIds: uuids, perWorkspace: integer },
    columns: numberedColumns,
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
