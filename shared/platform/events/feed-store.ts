import {
  bigint,
  bigints,
  boolean,
  instant,
  integer,
  jsonb,
  type RowOf,
  text,
  texts,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { StoredCause } from '#shared/platform/kernel/cause.ts'

/** Whether the database has been migrated so far that it has lists of events. */
export const hasFeeds = statement('events.hasFeeds', `select to_regclass('feed_heads') is not null as is_there`, {
  params: {},
  columns: { is_there: boolean.notNull },
})

/** Gives the list of every workspace another name: positions of readers of the earlier lists are refused. */
export const renewFeeds = statement('events.renewFeeds', 'update feed_heads set feed = uuidv7()', { params: {} })

/**
 * Deletes the first events of the next workspaces after one, at most `perWorkspace` of each, as far as they are older than `before` and their
 * deliveries to listeners and webhooks do not wait. What stays has no gap: an event that committed late and is older than one before it stays with
 * that one. Returns the workspaces with the numbers of their deleted events.
 */
export const deleteOldEvents = statement(
  'events.deleteOldEvents',
  `with heads as (
     select workspace_id from feed_heads where workspace_id > $afterId::uuid order by workspace_id limit $workspaces::integer
   ),
   bounds as (
     select heads.workspace_id, oldest.last, oldest.first_kept,
       least(
         (select seq from waiting_deliveries where workspace_id = heads.workspace_id and seq is not null order by id limit 1),
         (select min(seen_seq) + 1 from webhooks where workspace_id = heads.workspace_id and status <> 'disabled'),
         (select min(event_seq) from webhook_deliveries where workspace_id = heads.workspace_id and status = 'waiting')
       ) as first_waiting
     from heads cross join lateral (
       select max(seq) as last, min(seq) filter (where uuid_extract_timestamp(id) >= $before::timestamptz) as first_kept
       from (select seq, id from events where workspace_id = heads.workspace_id order by seq limit $perWorkspace::integer) as first
     ) as oldest
   ),
   gone as (
     delete from events using bounds
     where events.workspace_id = bounds.workspace_id and seq <= last and seq < least(coalesce(first_kept, last + 1), first_waiting)
     returning events.workspace_id
   )
   select heads.workspace_id as "workspaceId", (select count(*) from gone where gone.workspace_id = heads.workspace_id)::integer as deleted
   from heads order by heads.workspace_id`,
  {
    params: { afterId: uuid, workspaces: integer, perWorkspace: integer, before: instant },
    columns: { workspaceId: uuid.notNull, deleted: integer.notNull },
  },
)

const feedColumns = { feed: uuid.notNull, lastSeq: bigint.notNull, oldestSeq: bigint.notNull }

/** A workspace's list of events: its last number, and the lowest that is kept; above the last one where none is kept. */
export type Feed = RowOf<typeof feedColumns>

export const findFeed = statement(
  'events.findFeed',
  `select feed, last_seq as "lastSeq", coalesce((select min(seq) from events where workspace_id = $workspaceId), last_seq + 1) as "oldestSeq"
   from feed_heads where workspace_id = $workspaceId`,
  { params: { workspaceId: uuid }, columns: feedColumns },
)

const eventColumns = {
  seq: bigint.notNull,
  id: uuid.notNull,
  type: text.notNull,
  at: instant.notNull,
  topic: text.notNull,
  subjectId: uuid.notNull,
  createdBy: uuid,
  createdAt: instant,
  kept: jsonb.as<Readonly<Record<string, unknown>>>(),
  subject: jsonb.as<Readonly<Record<string, unknown>>>(),
  data: jsonb.as<Readonly<Record<string, unknown>>>(),
  cause: jsonb.as<StoredCause>(),
}

/** A numbered event. `createdBy` and `createdAt` are of changes of records, the columns after `kept` of others. */
export type StoredEvent = RowOf<typeof eventColumns>

const eventList = `seq, id, type, uuid_extract_timestamp(id) as at, topic, subject_id as "subjectId", created_by as "createdBy",
  created_at as "createdAt", kept, subject, data, cause`

/** The events of some numbers, as far as they are kept, in their order. */
export const findEventsByNumber = statement(
  'events.findEventsByNumber',
  `select ${eventList} from events where workspace_id = $workspaceId and seq = any($numbers::bigint[]) order by seq`,
  { params: { workspaceId: uuid, numbers: bigints }, columns: eventColumns },
)

/** The events above a number and up to another one, of some types or all, and of a record type and its records or of everything. */
export const findEvents = statement(
  'events.findEvents',
  `select ${eventList} from events
   where workspace_id = $workspaceId and seq > $after and seq <= $upTo and ($types::text[] is null or type = any($types))
     and ($objectType::text is null or topic = $objectType and (starts_with(type, 'records.') or type = 'types.changed'))
   order by seq`,
  {
    params: { workspaceId: uuid, after: bigint, upTo: bigint, types: texts.orNull, objectType: text.orNull },
    columns: eventColumns,
  },
)
