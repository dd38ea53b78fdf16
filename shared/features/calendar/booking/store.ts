import type { Executor } from '#shared/platform/db/database.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  bookings_slot: ['SLOT_TAKEN', 'This time was taken just now'],
  bookings_request: ['SLOT_TAKEN', 'This request is being answered already'],
})

/** A booking as it is kept. */
export interface Booking {
  readonly event_id: string
  readonly attendee_id: string
  readonly status: 'booked' | 'cancelled'
  readonly request_hash: Buffer | null
}

const insert = sql(
  'insert_booking',
  `insert into bookings (workspace_id, event_id, calendar_id, attendee_id, slot, name, email, notes, request_key, request_hash)
   values ($1, $2, $3, $4, tstzrange($5, $6), $7, $8, $9, $10, $11)`,
)
/** Keeps a booking. Throws SLOT_TAKEN when another one of the calendar overlaps it. */
export async function insertBooking(
  db: Executor,
  workspaceId: string,
  booking: Record<'eventId' | 'calendarId' | 'attendeeId' | 'name' | 'email' | 'notes', string> & {
    readonly from: Date
    readonly to: Date
    readonly requestKey: string | null
    readonly requestHash: Buffer | null
  },
): Promise<void> {
  const { eventId, calendarId, attendeeId, from, to, name, email, notes, requestKey, requestHash } = booking
  await db.query(insert(workspaceId, eventId, calendarId, attendeeId, from, to, name, email, notes, requestKey, requestHash))
}

const byRequest = sql(
  'find_booking_by_request',
  `select event_id, attendee_id, status, request_hash from bookings where workspace_id = $1 and calendar_id = $2 and request_key = $3`,
)
export async function findBookingByRequest(
  db: Executor,
  workspaceId: string,
  calendarId: string,
  key: string,
): Promise<Booking | undefined> {
  return (await db.query<Booking>(byRequest(workspaceId, calendarId, key)))[0]
}

const ofEvent = sql(
  'find_booking',
  'select event_id, attendee_id, status, request_hash from bookings where workspace_id = $1 and event_id = $2',
)
export async function findBooking(db: Executor, workspaceId: string, eventId: string): Promise<Booking | undefined> {
  return (await db.query<Booking>(ofEvent(workspaceId, eventId)))[0]
}

const cancel = sql(
  'cancel_booking',
  `update bookings set status = 'cancelled', slot = null where workspace_id = $1 and event_id = $2 and status = 'booked' returning event_id`,
)
/** Cancels a booking; false when it was already. */
export async function cancelBooking(db: Executor, workspaceId: string, eventId: string): Promise<boolean> {
  return (await db.query(cancel(workspaceId, eventId))).length > 0
}

const release = sql('release_booked_slots', 'update bookings set slot = null where workspace_id = $1 and event_id = any($2)')
/** Lets the times go at which events were booked: their organizer has moved them, or called them off. */
export async function releaseSlots(db: Executor, workspaceId: string, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length > 0) await db.query(release(workspaceId, eventIds))
}

const lockOwned = sql(
  'lock_owned_calendars',
  'select id from calendars where workspace_id = $1 and owner_id = $2 order by id for no key update',
)
/** Keeps others who book a person's time waiting until the transaction ends. */
export async function lockCalendarsOfOwner(db: Executor, workspaceId: string, userId: string): Promise<void> {
  await db.query(lockOwned(workspaceId, userId))
}
