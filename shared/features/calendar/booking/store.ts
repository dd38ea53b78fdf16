import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { bytes, instant, type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  bookings_slot: ['SLOT_TAKEN', 'This time was taken just now'],
  bookings_request: ['SLOT_TAKEN', 'This request is being answered already'],
})

const columns = {
  event_id: uuid.notNull,
  attendee_id: uuid.notNull,
  status: text.as<'booked' | 'cancelled'>().notNull,
  request_hash: bytes,
}
const list = selectList(columns)

/** A stored booking. */
export type Booking = RowOf<typeof columns>

/** Inserts a booking. Throws SLOT_TAKEN when another one of the calendar overlaps it. */
export const insertBooking = statement(
  'calendar.insertBooking',
  `insert into bookings (workspace_id, event_id, calendar_id, attendee_id, slot, name, email, notes, request_key, request_hash)
   values (
     $workspaceId, $eventId, $calendarId, $attendeeId, tstzrange($from, $to), $name, $email, $notes, $requestKey, $requestHash
   )`,
  {
    params: {
      workspaceId: uuid,
      eventId: uuid,
      calendarId: uuid,
      attendeeId: uuid,
      from: instant,
      to: instant,
      name: text,
      email: text,
      notes: text,
      requestKey: text.orNull,
      requestHash: bytes.orNull,
    },
  },
)

/** The booking of a calendar by the key of its request. */
export const findBookingByRequest = statement(
  'calendar.findBookingByRequest',
  `select ${list} from bookings where workspace_id = $workspaceId and calendar_id = $calendarId and request_key = $requestKey`,
  { params: { workspaceId: uuid, calendarId: uuid, requestKey: text }, columns },
)

/** The booking of an event. */
export const findBooking = statement(
  'calendar.findBooking',
  `select ${list} from bookings where workspace_id = $workspaceId and event_id = $eventId`,
  { params: { workspaceId: uuid, eventId: uuid }, columns },
)

/** Cancels a booking; no row when it is already cancelled. */
export const cancelBooking = statement(
  'calendar.cancelBooking',
  `update bookings set status = 'cancelled', slot = null
   where workspace_id = $workspaceId and event_id = $eventId and status = 'booked' returning event_id`,
  { params: { workspaceId: uuid, eventId: uuid }, columns: { event_id: uuid.notNull } },
)

const clearSlots = statement(
  'calendar.clearSlots',
  `update bookings as booking set slot = null from calendar_events as event
   where booking.workspace_id = $workspaceId and booking.event_id = any($eventIds) and booking.slot is not null
     and event.workspace_id = booking.workspace_id and event.id = booking.event_id
     and (
       event.calendar_id <> booking.calendar_id or event.status = 'cancelled' or event.is_free or event.recurrence is not null
       or event.start_date is not null or tstzrange(event.start_at, event.end_at) <> booking.slot
     )`,
  { params: { workspaceId: uuid, eventIds: uuids } },
)
/** Releases the booked times of those events that no longer take them: moved in time or to another calendar, cancelled or free. */
export async function releaseSlots(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await db.query(clearSlots({ workspaceId, eventIds }))
}

/** Locks a person's calendars until the transaction ends, so that bookings of the person's time run one after the other. */
export const lockCalendarsOfOwner = statement(
  'calendar.lockCalendarsOfOwner',
  'select id from calendars where workspace_id = $workspaceId and owner_id = $ownerId order by id for no key update',
  { params: { workspaceId: uuid, ownerId: uuid }, columns: { id: uuid.notNull } },
)
