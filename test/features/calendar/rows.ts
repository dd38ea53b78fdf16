import type { Db } from '#test/support/rows.ts'

/**
 * Makes events look as if an older release of the time zone data had made them, in which this zone was an hour behind: the same local time
 * at another instant.
 */
export async function ageZone(db: Db, zone: string): Promise<void> {
  await db.query(
    `update calendar_events set start_at = start_at + interval '1 hour', end_at = end_at + interval '1 hour',
       original_start = original_start + interval '1 hour',
       extent = tstzrange(lower(extent) + interval '1 hour', upper(extent) + interval '1 hour')
     where timezone = $1`,
    [zone],
  )
  await ageZoneRelease(db)
}

/** Marks all events as made with an older release of the time zone data. */
export async function ageZoneRelease(db: Db): Promise<void> {
  await db.query(`update calendar_events set zone_release = '1999a'`)
}

/** Counts so many mails of the day 2026-11-25 to an address. */
export async function addMailsOfDay(db: Db, address: string, mails: number): Promise<void> {
  await db.query(`insert into calendar_mail_counts values ('2026-11-25', 'calendar', 'to ' || $1, $2)`, [address, mails])
}

/** The number of mails to different recipients in the outbox. */
export async function countRecipients(db: Db): Promise<number> {
  return (await db.query('select distinct recipient from outbox_mails')).rowCount ?? 0
}

/** Forgets the mails that were counted against the daily limits. */
export async function deleteMailCounts(db: Db): Promise<void> {
  await db.query('delete from calendar_mail_counts')
}

/** The address of a person. */
export async function readEmail(db: Db, userId: string): Promise<string> {
  const { rows } = await db.query<{ email: string }>('select email from users where id = $1', [userId])
  return rows[0]?.email ?? ''
}

/** An event and its guest as they are stored. */
export interface StoredEvent {
  readonly id: string
  readonly title: string
  readonly sequence: number
  readonly created_at: Date
  readonly guest: string | null
  readonly token_hash: Buffer | null
}

/** The events of a calendar, each with its guest; a series before its exceptions. */
export async function readEvents(db: Db, calendarId: string): Promise<StoredEvent[]> {
  const { rows } = await db.query<StoredEvent>(
    `select event.id, event.title, event.sequence, event.created_at, guest.id as guest, guest.token_hash
     from calendar_events as event left join calendar_attendees as guest on guest.event_id = event.id
     where event.calendar_id = $1 order by event.original_start nulls first`,
    [calendarId],
  )
  return rows
}

/** The SEQUENCE of each event of a calendar. */
export async function readSequences(db: Db, calendarId: string): Promise<number[]> {
  const { rows } = await db.query<{ sequence: number }>('select sequence from calendar_events where calendar_id = $1', [calendarId])
  return rows.map(({ sequence }) => sequence)
}

/** The release of the time zone data of each event with a time, in the order of their starts. */
export async function readZoneReleases(db: Db): Promise<{ title: string; zone_release: string }[]> {
  const { rows } = await db.query<{ title: string; zone_release: string }>(
    'select title, zone_release from calendar_events where start_at is not null order by start_at, title',
  )
  return rows
}

/** Sets the mails of a workspace that are counted against its daily limits. */
export async function setWorkspaceMails(db: Db, workspaceId: string, mails: number): Promise<void> {
  await db.query('update calendar_mail_counts set mails = $2 where subject = $1', [`of ${workspaceId}`, mails])
}

/** The zones of a workspace, its calendars and its events. */
export async function readZones(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ timezone: string }>(
    `select timezone from workspaces where id = $1
     union all select timezone from calendars where workspace_id = $1
     union all select timezone from calendar_events where workspace_id = $1`,
    [workspaceId],
  )
  return rows.map(({ timezone }) => timezone)
}

/** Stores zones that the API refuses in all workspaces, calendars and events, in a database that the migration of zones has not reached. */
export async function setZones(db: Db, zones: { workspace: string; calendar: string; event: string }): Promise<void> {
  await db.query('update workspaces set timezone = $1', [zones.workspace])
  await db.query('update calendars set timezone = $1', [zones.calendar])
  await db.query('update calendar_events set timezone = $1', [zones.event])
  await db.query(`delete from migrations where name = '0017-iana-time-zones.ts'`)
}
