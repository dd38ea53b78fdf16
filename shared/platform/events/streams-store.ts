import { bigint, boolean, instant, integer, smallint, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** The most streams of events of a workspace, over all processes; `event_streams` has no more places. */
export const maxStreams = 50

/**
 * Takes a free place for a stream. `place` is null where another stream took the chosen one at the same time; `wasFree` then tells whether
 * another try may succeed. The place is chosen at random, so that streams that begin together seldom choose the same one.
 */
export const takePlace = statement(
  'events.takePlace',
  `with free as (
     select number as place from generate_series(1, ${maxStreams}) as number
     where not exists (select from event_streams where workspace_id = $workspaceId and place = number and expires_at > $now)
     order by random() limit 1
   ),
   taken as (
     insert into event_streams as held (workspace_id, place, stream_id, expires_at)
     select $workspaceId, place, $streamId, $expiresAt from free
     on conflict (workspace_id, place) do update set stream_id = excluded.stream_id, expires_at = excluded.expires_at
       where held.expires_at <= $now
     returning place
   )
   select (select place from taken) as place, exists (select from free) as "wasFree"`,
  {
    params: { workspaceId: uuid, streamId: uuid, now: instant, expiresAt: instant },
    columns: { place: smallint, wasFree: boolean.notNull },
  },
)

/** Keeps the places of streams, and returns the ids of those that still hold theirs. */
export const renewPlaces = statement(
  'events.renewPlaces',
  `update event_streams set expires_at = $expiresAt where workspace_id = any($workspaceIds::uuid[]) and stream_id = any($streamIds::uuid[])
   returning stream_id as "streamId"`,
  { params: { workspaceIds: uuids, streamIds: uuids, expiresAt: instant }, columns: { streamId: uuid.notNull } },
)

/** Frees the place of a stream that has ended. */
export const freePlace = statement(
  'events.freePlace',
  'delete from event_streams where workspace_id = $workspaceId and stream_id = $streamId',
  { params: { workspaceId: uuid, streamId: uuid } },
)

/** Number of streams that are open, of all workspaces and processes. */
export const countStreams = statement(
  'events.countStreams',
  'select count(*)::integer as count from event_streams where expires_at > $now',
  { params: { now: instant }, columns: { count: integer.notNull } },
)

/** The lists of some workspaces: which ones they are, and their last numbers. */
export const findHeads = statement(
  'events.findHeads',
  'select workspace_id as "workspaceId", feed, last_seq as "lastSeq" from feed_heads where workspace_id = any($workspaceIds::uuid[])',
  { params: { workspaceIds: uuids }, columns: { workspaceId: uuid.notNull, feed: uuid.notNull, lastSeq: bigint.notNull } },
)
