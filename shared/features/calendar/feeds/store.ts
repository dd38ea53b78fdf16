import { bigint, bytes, instant, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  version: bigint.notNull,
  changed_at: instant.notNull,
  /** Null without a stored file, as are the file's other columns. */
  tag: text,
  blob_id: uuid,
  size_bytes: bigint,
}

/** The feed by the hash of its link's secret. */
export const findFeed = statement(
  'calendar.findFeed',
  `select calendar.id, calendar.key, state.version, state.changed_at, feed.tag, feed.blob_id, feed.size_bytes
   from calendars as calendar
   join calendar_states as state on state.workspace_id = calendar.workspace_id and state.calendar_id = calendar.id
   left join calendar_feeds as feed on feed.workspace_id = calendar.workspace_id and feed.calendar_id = calendar.id
   where calendar.workspace_id = $workspaceId and calendar.feed_hash = $feedHash and calendar.left_at is null`,
  { params: { workspaceId: uuid, feedHash: bytes }, columns },
)

/** Stores the file of a feed in place of the earlier one; nothing for a link that was turned off meanwhile. */
export const putFeedFile = statement(
  'calendar.putFeedFile',
  `insert into calendar_feeds (workspace_id, calendar_id, tag, blob_id, size_bytes)
   select $workspaceId, $calendarId, $tag, $blobId, $sizeBytes from calendars
   where workspace_id = $workspaceId and id = $calendarId and feed_hash is not null
   on conflict (workspace_id, calendar_id) do update set tag = excluded.tag, blob_id = excluded.blob_id, size_bytes = excluded.size_bytes`,
  { params: { workspaceId: uuid, calendarId: uuid, tag: text, blobId: uuid, sizeBytes: bigint } },
)

/** Deletes the stored file of a feed. */
export const deleteFeedFile = statement(
  'calendar.deleteFeedFile',
  'delete from calendar_feeds where workspace_id = $workspaceId and calendar_id = $calendarId',
  { params: { workspaceId: uuid, calendarId: uuid } },
)
