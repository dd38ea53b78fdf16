import type { Attendee, EventRow, EventWithExtent } from '#shared/features/calendar/events/event.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  calendar_events_uid: ['KEY_TAKEN', 'The calendar has an event of this UID'],
  calendar_attendees_email: ['VALIDATION_ERROR', 'attendees must not hold the same address twice'],
})

const columns = [
  ...[
    'id',
    'calendar_id',
    'uid',
    'series_id',
    'original_start',
    'original_date',
    'is_removed',
    'title',
    'description',
    'location',
    'color',
  ],
  ...[
    'start_at',
    'end_at',
    'start_date',
    'end_date',
    'timezone',
    'wall_start',
    'zone_release',
    'recurrence',
    'rdates',
    'exdates',
    'status',
  ],
  ...['visibility', 'is_free', 'reminders', 'source', 'sequence', 'organizer', 'record_type', 'record_id', 'natural_key', 'created_by'],
  ...['timed_at', 'created_at', 'updated_at'],
] as const
const all = columns.join(', ')
/** The columns of an event, for other statements. */
export const eventColumns = all
const own = columns.map((column) => `event.${column}`).join(', ')
const written = [...columns, 'extent']

const given = `jsonb_populate_recordset(null::calendar_events, $2::jsonb) as given`

const insert = sql(
  'insert_calendar_events',
  `insert into calendar_events (workspace_id, ${written.join(', ')})
   select $1::uuid, ${written.map((column) => `given.${column}`).join(', ')} from ${given}`,
)
/** Makes events; exceptions stand behind their series. */
export async function insertEvents(db: Executor, workspaceId: string, events: readonly EventWithExtent[]): Promise<void> {
  if (events.length > 0) await db.query(insert(workspaceId, JSON.stringify(events)))
}

const update = sql(
  'update_calendar_events',
  `update calendar_events as event set (${written.join(', ')}) = (select ${written.map((column) => `given.${column}`).join(', ')})
   from ${given} where event.workspace_id = $1 and event.id = given.id`,
)
/** Writes events anew that there are. */
export async function updateEvents(db: Executor, workspaceId: string, events: readonly EventWithExtent[]): Promise<void> {
  if (events.length > 0) await db.query(update(workspaceId, JSON.stringify(events)))
}

const remove = sql('delete_calendar_events', 'delete from calendar_events where workspace_id = $1 and id = any($2)')
/** Deletes events, with their exceptions and guests. */
export async function deleteEvents(db: Executor, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.query(remove(workspaceId, ids))
}

const find = sql('find_calendar_event', `select ${all} from calendar_events where workspace_id = $1 and id = $2`)
export async function findEvent(db: Executor, workspaceId: string, id: string): Promise<EventRow | undefined> {
  return (await db.query<EventRow>(find(workspaceId, id)))[0]
}

const findLocked = sql('lock_calendar_event', `select ${all} from calendar_events where workspace_id = $1 and id = $2 for no key update`)
/** The event as it is now; whoever else locks it waits until the transaction ends. */
export async function lockEvent(db: Executor, workspaceId: string, id: string): Promise<EventRow | undefined> {
  return (await db.query<EventRow>(findLocked(workspaceId, id)))[0]
}

const findByKey = sql('find_calendar_event_by_key', `select ${all} from calendar_events where workspace_id = $1 and natural_key = $2`)
export async function findEventByDeduplicationKey(db: Executor, workspaceId: string, key: string): Promise<EventRow | undefined> {
  return (await db.query<EventRow>(findByKey(workspaceId, key)))[0]
}

const exceptions = sql(
  'find_event_exceptions',
  `select ${all} from calendar_events where workspace_id = $1 and series_id = any($2) order by series_id, original_start, original_date, id`,
)
/** All occurrences of some series that are rows of their own, removed ones too. */
export const findExceptions = (db: Executor, workspaceId: string, seriesIds: readonly string[]): Promise<EventRow[]> =>
  seriesIds.length === 0 ? Promise.resolve([]) : db.query<EventRow>(exceptions(workspaceId, seriesIds))

const ofCalendars = sql(
  'list_calendar_events',
  `select ${all} from calendar_events where workspace_id = $1 and calendar_id = any($2) and not is_removed
   order by series_id nulls first, id`,
)
/** All events of some calendars, series before their exceptions. */
export const listAllEvents = (db: Executor, workspaceId: string, calendarIds: readonly string[]): Promise<EventRow[]> =>
  db.query<EventRow>(ofCalendars(workspaceId, calendarIds))

const removed = sql(
  'list_removed_occurrences',
  `select ${all} from calendar_events where workspace_id = $1 and series_id = any($2) and is_removed order by series_id, id`,
)
/** The deleted occurrences of some series. */
export const listRemovedOccurrences = (db: Executor, workspaceId: string, seriesIds: readonly string[]): Promise<EventRow[]> =>
  seriesIds.length === 0 ? Promise.resolve([]) : db.query<EventRow>(removed(workspaceId, seriesIds))

/** How the person that asks answered an event's invitation. */
interface Answered {
  readonly my_status: Attendee['status'] | null
}
/** A whole event in a window. */
export type EventWithAnswer = EventRow & Answered

const listed = [
  ...['id', 'calendar_id', 'series_id', 'original_start', 'original_date', 'is_removed', 'title', 'start_at', 'end_at', 'start_date'],
  ...['end_date', 'timezone', 'recurrence', 'rdates', 'exdates', 'status', 'visibility', 'is_free'],
] as const
/** An event in a window as far as it is asked when it happens, whether it takes time, and what a listing shows. */
export type ListedEvent = Pick<EventRow, (typeof listed)[number]> & Answered

const within = (names: readonly string[], chosen: string) => `
  with found as (
    select event.id, event.recurrence,
      coalesce(event.end_at - event.start_at, (event.end_date - event.start_date) * interval '1 day') + interval '1 day' as length
    from calendar_events as event
    where event.workspace_id = $1 and event.extent && tstzrange($3::timestamptz, $4::timestamptz, '[]') and ${chosen}
  ),
  replaced as (
    select exception.id from found as series join calendar_events as exception
      on exception.workspace_id = $1 and exception.series_id = series.id and series.recurrence is not null
    where exception.original_start between $3::timestamptz - series.length and $4
      or exception.original_date between ($3::timestamptz - series.length)::date and $4::timestamptz::date + 1
  )
  select ${names.map((name) => `event.${name}`).join(', ')}, me.status as my_status
  from calendar_events as event
  left join calendar_attendees as me on me.workspace_id = event.workspace_id and me.event_id = event.id and me.user_id = $5
  where event.workspace_id = $1 and event.id in (select id from found union select id from replaced)
  order by event.id`

const ofCalendarsThen = 'event.calendar_id = any($2)'
const whole = sql('find_events_in_window', within(columns, ofCalendarsThen))
/** Events of calendars that may occur between two instants, and those that stand for occurrences of a series in between, whenever they are. */
export const findEventsInWindow = (
  db: Executor,
  workspaceId: string,
  calendarIds: readonly string[],
  window: { readonly from: Date; readonly to: Date },
  personId: string | null,
): Promise<EventWithAnswer[]> =>
  calendarIds.length === 0
    ? Promise.resolve([])
    : db.query<EventWithAnswer>(whole(workspaceId, calendarIds, window.from, window.to, personId))

const inCalendars = sql('list_events_in_window', within(listed, ofCalendarsThen))
/** The same, of each event what a listing needs: a month has thousands (measured: whole ones take 1.4 times as long). */
export const listEventsInWindow = (
  db: Executor,
  workspaceId: string,
  calendarIds: readonly string[],
  window: { readonly from: Date; readonly to: Date },
  personId: string | null,
): Promise<ListedEvent[]> =>
  calendarIds.length === 0
    ? Promise.resolve([])
    : db.query<ListedEvent>(inCalendars(workspaceId, calendarIds, window.from, window.to, personId))

const asGuest = sql(
  'list_invited_events_in_window',
  within(
    listed,
    `event.calendar_id <> all($2) and exists (
    select from calendar_attendees as guest
    where guest.workspace_id = $1 and guest.user_id = $5 and guest.event_id in (event.id, event.series_id)
  )`,
  ),
)
/** The same of events of all calendars but these to which a person is invited. */
export const listInvitedInWindow = (
  db: Executor,
  workspaceId: string,
  exceptCalendarIds: readonly string[],
  window: { readonly from: Date; readonly to: Date },
  personId: string,
): Promise<ListedEvent[]> => db.query<ListedEvent>(asGuest(workspaceId, exceptCalendarIds, window.from, window.to, personId))

const accepted = sql(
  'list_accepted_events_in_window',
  within(
    listed,
    `$2::boolean and exists (
    select from calendar_attendees as guest
    where guest.workspace_id = $1 and guest.user_id = $5 and guest.event_id in (event.id, event.series_id)
  ) and not exists (
    select from calendars as own where own.workspace_id = $1 and own.id = event.calendar_id and own.owner_id = $5
  )`,
  ),
)
/** Events on calendars of others to which a person is invited, with its answers. */
export const listAcceptedInWindow = (
  db: Executor,
  workspaceId: string,
  window: { readonly from: Date; readonly to: Date },
  personId: string,
): Promise<ListedEvent[]> => db.query<ListedEvent>(accepted(workspaceId, true, window.from, window.to, personId))

const ofRecord = sql(
  'find_events_of_record',
  `select ${own}, me.status as my_status
   from calendar_events as event
   left join calendar_attendees as me on me.workspace_id = event.workspace_id and me.event_id = event.id and me.user_id = $4
   where event.workspace_id = $1 and event.record_type = $2 and event.record_id = $3 and not event.is_removed
   order by lower(event.extent) desc, event.id limit 500`,
)
/** The events that are linked to a record, the latest first. */
export const findEventsOfRecord = (
  db: Executor,
  workspaceId: string,
  typeKey: string,
  recordId: string,
  personId: string | null,
): Promise<EventWithAnswer[]> => db.query<EventWithAnswer>(ofRecord(workspaceId, typeKey, recordId, personId))
