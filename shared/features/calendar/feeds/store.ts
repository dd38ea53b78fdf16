import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A calendar that a subscription link opens, and the file that was made of it last, with how the calendar was then. */
interface FeedRow {
  readonly id: string
  readonly key: string
  readonly version: number
  readonly changed_at: string
  readonly tag: string | null
  readonly blob_id: string | null
  readonly size_bytes: number | null
}

const find = sql(
  'find_calendar_feed',
  `select calendar.id, calendar.key, state.version, state.changed_at, feed.tag, feed.blob_id, feed.size_bytes
   from calendars as calendar
   join calendar_states as state on state.workspace_id = calendar.workspace_id and state.calendar_id = calendar.id
   left join calendar_feeds as feed on feed.workspace_id = calendar.workspace_id and feed.calendar_id = calendar.id
   where calendar.workspace_id = $1 and calendar.feed_hash = $2 and calendar.left_at is null`,
)
export async function findFeed(db: Executor, workspaceId: string, hash: Buffer): Promise<FeedRow | undefined> {
  return (await db.query<FeedRow>(find(workspaceId, hash)))[0]
}

// A link that was turned off meanwhile keeps nothing.
const put = sql(
  'put_calendar_feed',
  `insert into calendar_feeds (workspace_id, calendar_id, tag, blob_id, size_bytes)
   select $1, $2, $3, $4, $5 from calendars where workspace_id = $1 and id = $2 and feed_hash is not null
   on conflict (workspace_id, calendar_id) do update set tag = excluded.tag, blob_id = excluded.blob_id, size_bytes = excluded.size_bytes`,
)
/** Keeps the file of a feed, instead of the one before. */
export async function putFeedFile(
  db: Executor,
  workspaceId: string,
  calendarId: string,
  file: { readonly tag: string; readonly blobId: string; readonly sizeBytes: number },
): Promise<void> {
  await db.query(put(workspaceId, calendarId, file.tag, file.blobId, file.sizeBytes))
}

const remove = sql('delete_calendar_feed', 'delete from calendar_feeds where workspace_id = $1 and calendar_id = $2')
export async function deleteFeedFile(db: Executor, workspaceId: string, calendarId: string): Promise<void> {
  await db.query(remove(workspaceId, calendarId))
}
