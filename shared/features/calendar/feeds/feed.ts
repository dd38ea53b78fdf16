import { hashSecret } from '#shared/core/people/tokens.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { accessByLevel } from '#shared/features/calendar/access.ts'
import { calendarVersion, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { findFeed, putFeedFile } from '#shared/features/calendar/feeds/store.ts'
import { writeCalendarFile } from '#shared/features/calendar/import-export/export-calendar.ts'
import { findJobFile } from '#shared/platform/jobs/job-files.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'

/** Version of the file format. Raise it when files are written differently: stored files are then written again. */
const formatVersion = 1

/** The feed that a subscription link opens. */
interface Feed {
  readonly calendarId: string
  readonly etag: string
  /** When the calendar last changed. */
  readonly changedAt: Date
  /** Response headers. */
  readonly headers: Readonly<Record<string, string>>
  /** The stored file; absent once the calendar has changed. */
  readonly storedFile?: { readonly blobId: string; readonly sizeBytes: number }
}

const tagOf = (calendarId: string, version: number): string => `"${calendarId}-${version}-${formatVersion}"`

const headersOf = (key: string, etag: string, changedAt: Date): Record<string, string> => ({
  'Content-Type': 'text/calendar; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  ETag: etag,
  'Last-Modified': changedAt.toUTCString(),
  'Cache-Control': 'private, max-age=0, must-revalidate',
  'Content-Disposition': `inline; filename="${key}.ics"`,
})

/** The feed of a link's secret. Throws NOT_FOUND for an unknown or replaced secret. */
export async function requireFeed({ db, workspace }: Scope, token: string): Promise<Feed> {
  const row = requireRow(await db.query(findFeed({ workspaceId: workspace.id, feedHash: hashSecret(token) })))
  const etag = tagOf(row.id, row.version)
  const changedAt = new Date(row.changed_at)
  const isKept = row.tag === etag && row.blob_id !== null && row.size_bytes !== null
  return {
    calendarId: row.id,
    etag,
    changedAt,
    headers: headersOf(row.key, etag, changedAt),
    ...(isKept ? { storedFile: { blobId: row.blob_id as string, sizeBytes: row.size_bytes as number } } : {}),
  }
}

/**
 * Writes a calendar's file as its subscription link shows it: with read access, without guests. The version in the tag is read first, so
 * that a change during the write makes the tag outdated.
 */
export async function writeFeedFile(scope: Scope, calendarId: string) {
  const { db, workspace } = scope
  const { version, changed_at } = await calendarVersion(db, workspace.id, calendarId)
  const calendar = requireRow(await db.query(findCalendar({ workspaceId: workspace.id, userId: null, id: calendarId })))
  const tag = tagOf(calendar.id, version)
  return {
    name: '',
    headers: headersOf(calendar.key, tag, new Date(changed_at)),
    text: await writeCalendarFile(scope, calendar, accessByLevel('read'), false),
    tag,
  }
}

/** Registers a job's file as the file of the calendar's feed. `tag` is the ETag of the calendar's version from which the file was written. */
export async function storeFeedFile({ db, workspace }: Scope, calendarId: string, tag: string, fileId: string): Promise<void> {
  const file = await findJobFile(db, workspace.id, fileId)
  if (file) await db.query(putFeedFile({ workspaceId: workspace.id, calendarId, tag, blobId: file.blob_id, sizeBytes: file.size_bytes }))
}
