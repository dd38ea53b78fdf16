import type { EventStatus, GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import {
  boolean,
  type Columns,
  date,
  instant,
  integer,
  integers,
  jsonb,
  localTime,
  type RowOf,
  selectList,
  text,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  calendar_events_uid: ['KEY_TAKEN', 'The calendar has an event of this UID'],
  calendar_attendees_email: ['VALIDATION_ERROR', 'attendees must not hold the same address twice'],
})

/** The columns that a listing shows, and those that say when an event occurs and whether it takes time. */
const listedColumns = {
  id: uuid.notNull,
  calendar_id: uuid.notNull,
  series_id: uuid,
  original_start: instant,
  original_date: date,
  is_removed: boolean.notNull,
  title: text.notNull,
  start_at: instant,
  end_at: instant,
  start_date: date,
  end_date: date,
  timezone: text.notNull,
  recurrence: text,
  /** Local times of starts, such as `2026-03-01T09:00:00`. */
  rdates: jsonb.as<readonly string[]>().notNull,
  exdates: jsonb.as<readonly string[]>().notNull,
  status: text.as<EventStatus>().notNull,
  visibility: text.as<'default' | 'private'>().notNull,
  is_free: boolean.notNull,
}

/** Columns of an event. */
export const eventColumns = {
  ...listedColumns,
  uid: text.notNull,
  description: text.notNull,
  location: text.notNull,
  color: text.notNull,
  /** Local time of the start, such as `2026-03-01T09:00:00`. */
  wall_start: localTime.notNull,
  zone_release: text.notNull,
  reminders: integers,
  source: text.notNull,
  sequence: integer.notNull,
  organizer: jsonb.as<{ readonly name: string; readonly email: string }>(),
  record_type: text,
  record_id: uuid,
  deduplication_key: text,
  created_by: uuid,
  timed_at: instant.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const list = selectList(eventColumns)

/** A row of `calendar_events`. An exception names the start that it replaces in `original_start`, or `original_date` if all-day. */
export type EventRow = RowOf<typeof eventColumns>

/** An event row with the time range of all its occurrences. */
export type EventWithExtent = EventRow & { readonly extent: string }

const givenEvents = 'jsonb_populate_recordset(null::calendar_events, $events::jsonb) as given'
const givenList = `${selectList(eventColumns, 'given')}, given.extent`

const insertEventRows = statement(
  'calendar.insertEventRows',
  `insert into calendar_events (workspace_id, ${list}, extent) select $workspaceId::uuid, ${givenList} from ${givenEvents}`,
  { params: { workspaceId: uuid, events: jsonb } },
)
/** Inserts events. A series must come before its exceptions. */
export async function insertEvents(db: Executor, workspaceId: string, events: readonly EventWithExtent[]): Promise<void> {
  if (events.length > 0) await db.query(insertEventRows({ workspaceId, events: JSON.stringify(events) }))
}

const updateEventRows = statement(
  'calendar.updateEventRows',
  `update calendar_events as event set (${list}, extent) = (select ${givenList})
   from ${givenEvents} where event.workspace_id = $workspaceId and event.id = given.id`,
  { params: { workspaceId: uuid, events: jsonb } },
)
/** Replaces all columns of existing events. */
export async function updateEvents(db: Executor, workspaceId: string, events: readonly EventWithExtent[]): Promise<void> {
  if (events.length > 0) await db.query(updateEventRows({ workspaceId, events: JSON.stringify(events) }))
}

const deleteEventRows = statement(
  'calendar.deleteEventRows',
  'delete from calendar_events where workspace_id = $workspaceId and id = any($ids)',
  { params: { workspaceId: uuid, ids: uuids } },
)
/** Deletes events with their exceptions and guests. */
export async function deleteEvents(db: Executor, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.query(deleteEventRows({ workspaceId, ids }))
}

/** An event by its id. */
export const findEvent = statement(
  'calendar.findEvent',
  `select ${list} from calendar_events where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: eventColumns },
)

/** An event by its id, locked until the transaction ends. */
export const lockEvent = statement(
  'calendar.lockEvent',
  `select ${list} from calendar_events where workspace_id = $workspaceId and id = $id for no key update`,
  { params: { workspaceId: uuid, id: uuid }, columns: eventColumns },
)

/** The event with a deduplication key. */
export const findEventByDeduplicationKey = statement(
  'calendar.findEventByDeduplicationKey',
  `select ${list} from calendar_events where workspace_id = $workspaceId and deduplication_key = $deduplicationKey`,
  { params: { workspaceId: uuid, deduplicationKey: text }, columns: eventColumns },
)

const selectExceptions = statement(
  'calendar.selectExceptions',
  `select ${list} from calendar_events
   where workspace_id = $workspaceId and series_id = any($seriesIds) order by series_id, original_start, original_date, id`,
  { params: { workspaceId: uuid, seriesIds: uuids }, columns: eventColumns },
)
/** All exceptions of some series, including removed occurrences. */
export const findExceptions = (db: Executor, workspaceId: string, seriesIds: readonly string[]): Promise<EventRow[]> =>
  seriesIds.length === 0 ? Promise.resolve([]) : db.query(selectExceptions({ workspaceId, seriesIds }))

/** All events of some calendars, removed occurrences too, series before their exceptions. */
export const listAllEvents = statement(
  'calendar.listAllEvents',
  `select ${list} from calendar_events where workspace_id = $workspaceId and calendar_id = any($calendarIds)
   order by series_id nulls first, id`,
  { params: { workspaceId: uuid, calendarIds: uuids }, columns: eventColumns },
)

/** The given person's answer to the event's invitation; null when the person is not invited. */
const answerColumn = { my_status: text.as<GuestAnswer>() }
const columnsWithAnswer = { ...eventColumns, ...answerColumn }

/** An event with a person's answer. */
export type EventWithAnswer = RowOf<typeof columnsWithAnswer>

const listedColumnsWithAnswer = { ...listedColumns, ...answerColumn }

/** An event in a listing, with a person's answer. */
export type ListedEvent = RowOf<typeof listedColumnsWithAnswer>

/**
 * Selects events that meet a condition and may occur from `$from` to `$to`, and the exceptions of such series that replace an occurrence
 * between these times, whenever they occur. `my_status` is the answer of the person `$userId`.
 */
const selectInWindow = (columns: Columns, condition: string) => `
  with found as (
    select event.id, event.recurrence,
      coalesce(event.end_at - event.start_at, (event.end_date - event.start_date) * interval '1 day') + interval '1 day' as length
    from calendar_events as event
    where event.workspace_id = $workspaceId and event.extent && tstzrange($from::timestamptz, $to::timestamptz, '[]') and ${condition}
  ),
  replaced as (
    select exception.id from found as series join calendar_events as exception
      on exception.workspace_id = $workspaceId and exception.series_id = series.id and series.recurrence is not null
    where exception.original_start between $from::timestamptz - series.length and $to
      or exception.original_date between ($from::timestamptz - series.length)::date and $to::timestamptz::date + 1
  )
  select ${selectList(columns, 'event')}, me.status as my_status
  from calendar_events as event
  left join calendar_attendees as me on me.workspace_id = event.workspace_id and me.event_id = event.id and me.user_id = $userId
  where event.workspace_id = $workspaceId and event.id in (select id from found union select id from replaced)
  order by event.id`

const isInvited = `exists (
    select from calendar_attendees as guest
    where guest.workspace_id = $workspaceId and guest.user_id = $userId and guest.event_id in (event.id, event.series_id)
  )`

const windowParams = { workspaceId: uuid, from: instant, to: instant, userId: uuid.orNull }
const isOfCalendars = 'event.calendar_id = any($calendarIds)'

/** Events of calendars that may occur between two instants, and exceptions of their series that replace an occurrence in that time. */
export const findEventsInWindow = statement('calendar.findEventsInWindow', selectInWindow(eventColumns, isOfCalendars), {
  params: { ...windowParams, calendarIds: uuids },
  columns: columnsWithAnswer,
})
const selectListedEvents = statement('calendar.selectListedEvents', selectInWindow(listedColumns, isOfCalendars), {
  params: { ...windowParams, calendarIds: uuids },
  columns: listedColumnsWithAnswer,
})
/** As `findEventsInWindow`, with the columns of a listing only: a month has thousands (measured: all columns take 1.4 times as long). */
export const listEventsInWindow = (
  db: Executor,
  workspaceId: string,
  calendarIds: readonly string[],
  { from, to }: { readonly from: Date; readonly to: Date },
  userId: string | null,
): Promise<ListedEvent[]> =>
  calendarIds.length === 0 ? Promise.resolve([]) : db.query(selectListedEvents({ workspaceId, calendarIds, from, to, userId }))

/** As `listEventsInWindow`, for events to which a person is invited, of all calendars except some. */
export const listInvitedInWindow = statement(
  'calendar.listInvitedInWindow',
  selectInWindow(listedColumns, `event.calendar_id <> all($exceptCalendarIds) and ${isInvited}`),
  { params: { ...windowParams, exceptCalendarIds: uuids }, columns: listedColumnsWithAnswer },
)

/** As `listEventsInWindow`, for events to which a person is invited, of all calendars that the person does not own. */
export const listAcceptedInWindow = statement(
  'calendar.listAcceptedInWindow',
  selectInWindow(
    listedColumns,
    `${isInvited} and not exists (
    select from calendars as own where own.workspace_id = $workspaceId and own.id = event.calendar_id and own.owner_id = $userId
  )`,
  ),
  { params: windowParams, columns: listedColumnsWithAnswer },
)

/** The events that are linked to a record, latest first, at most 500. */
export const findEventsOfRecord = statement(
  'calendar.findEventsOfRecord',
  `select ${selectList(eventColumns, 'event')}, me.status as my_status
   from calendar_events as event
   left join calendar_attendees as me on me.workspace_id = event.workspace_id and me.event_id = event.id and me.user_id = $userId
   where event.workspace_id = $workspaceId and event.record_type = $typeKey and event.record_id = $recordId and not event.is_removed
   order by lower(event.extent) desc, event.id limit 500`,
  { params: { workspaceId: uuid, typeKey: text, recordId: uuid, userId: uuid.orNull }, columns: columnsWithAnswer },
)
