import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, bytes, instant, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
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

/** The calendar that a subscription link opens, and the stored file of its feed, which may be of an earlier version. */
type FeedRow = RowOf<typeof columns>

const selectFeed = statement(
  'calendar.selectFeed',
  `select calendar.id, calendar.key, state.version, state.changed_at, feed.tag, feed.blob_id, feed.size_bytes
   from calendars as calendar
   join calendar_states as state on state.workspace_id = calendar.workspace_id and state.calendar_id = calendar.id
   left join calendar_feeds as feed on feed.workspace_id = calendar.workspace_id and feed.calendar_id = calendar.id
   where calendar.workspace_id = $workspaceId and calendar.feed_hash = $feedHash and calendar.left_at is null`,
  { params: { workspaceId: uuid, feedHash: bytes }, columns },
)
/** The feed by the hash of its link's secret. */
export async function findFeed(db: Executor, workspaceId: string, feedHash: Buffer): Promise<FeedRow | undefined> {
  return (await db.query(selectFeed({ workspaceId, feedHash })))[0]
}

// The condition on feed_hash stores nothing for a link that was turned off meanwhile.
const upsertFeedFile = statement(
  'calendar.upsertFeedFile',
  `insert into calendar_feeds (workspace_id, calendar_id, tag, blob_id, size_bytes)
   select $workspaceId, $calendarId, $tag, $blobId, $sizeBytes from calendars
   where workspace_id = $workspaceId and id = $calendarId and feed_hash is not null
   on conflict (workspace_id, calendar_id) do update set tag = excluded.tag, blob_id = excluded.blob_id, size_bytes = excluded.size_bytes`,
  { params: { workspaceId: uuid, calendarId: uuid, tag: text, blobId: uuid, sizeBytes: bigint } },
)
/** Stores the file of a feed in place of the earlier one. */
export async function putFeedFile(
  db: Executor,
  workspaceId: string,
  calendarId: string,
  file: { readonly tag: string; readonly blobId: string; readonly sizeBytes: number },
): Promise<void> {
  await db.query(upsertFeedFile({ workspaceId, calendarId, ...file }))
}

const deleteFeedFileRow = statement(
  'calendar.deleteFeedFileRow',
  'delete from calendar_feeds where workspace_id = $workspaceId and calendar_id = $calendarId',
  { params: { workspaceId: uuid, calendarId: uuid } },
)
/** Deletes the stored file of a feed. */
export async function deleteFeedFile(db: Executor, workspaceId: string, calendarId: string): Promise<void> {
  await db.query(deleteFeedFileRow({ workspaceId, calendarId }))
}
