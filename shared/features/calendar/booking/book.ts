import { createHash } from 'node:crypto'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import type { Booked, BookingInput } from '#shared/features/calendar/booking/schemas.ts'
import { listSlotStarts, type OpenBookingPage, requireBookingPage, requireDuration } from '#shared/features/calendar/booking/slots.ts'
import { type Booking, findBookingByRequest, insertBooking, lockCalendarsOfOwner } from '#shared/features/calendar/booking/store.ts'
import { lockCalendar } from '#shared/features/calendar/calendars/store.ts'
import { newEventRow } from '#shared/features/calendar/events/create-event.ts'
import { eventTimeOf, withExtent } from '#shared/features/calendar/events/event.ts'
import { findEvent, insertEvents } from '#shared/features/calendar/events/store.ts'
import { guestMessages } from '#shared/features/calendar/guests/guest-messages.ts'
import { guestTokenOf, newAttendee } from '#shared/features/calendar/guests/guests.ts'
import { informGuests } from '#shared/features/calendar/guests/inform-guests.ts'
import { findAttendees, insertAttendees } from '#shared/features/calendar/guests/store.ts'
import { scheduleReminders } from '#shared/features/calendar/reminders/schedule.ts'
import { instantMs, instantText } from '#shared/features/calendar/time.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { createKeyedLocks } from '#shared/platform/kernel/process/semaphore.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Bookings of one page run one after the other, so that a crowd of visitors does not take all database connections. */
const withLock = createKeyedLocks()

/** Identifies one attempt to book, unique per page. */
interface BookingRequest {
  /** Undefined when the visitor sent none. The attempt then never counts as a repetition. */
  readonly key: string | undefined
  /**
   * What happens when the key was used with another body. True: VALIDATION_ERROR, as for an Idempotency-Key. False: the first answer is
   * returned, as for the id in a hosted page.
   */
  readonly isExact: boolean
}

/**
 * Books a slot of a page for a visitor and mails the confirmation. A repeated request key returns the first answer. Throws
 * VALIDATION_ERROR for a time that is no slot of the page, or for an exact key with another body; SLOT_TAKEN for a time that is taken.
 * Bookings of one page, person or calendar run one after the other. Throws NOT_FOUND when the page was closed meanwhile.
 */
export const bookSlot = (scope: Scope, page: OpenBookingPage, input: BookingInput, request: BookingRequest): Promise<Booked> =>
  withLock(`${scope.workspace.id} ${page.calendar.key}`, () => bookUnderLock(scope, page, input, request))

function bookUnderLock(
  scope: Scope,
  { calendar }: OpenBookingPage,
  input: BookingInput,
  { key: requestKey, isExact }: BookingRequest,
): Promise<Booked> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const workspaceId = scope.workspace.id
    const { id, owner_id: ownerId } = calendar
    await tx.query(ownerId === null ? lockCalendar({ workspaceId, id }) : lockCalendarsOfOwner({ workspaceId, ownerId }))
    // The settings of the page may have changed before the lock was taken.
    const open = await requireBookingPage(inside, calendar.key)
    // The lock is that of `calendar`. Another calendar may have taken its key since it was found.
    if (open.calendar.id !== id) throw problem('NOT_FOUND')
    const hash = createHash('sha256')
      .update(JSON.stringify([input.start, input.duration, input.name, input.email, input.notes]))
      .digest()
    const earlier =
      requestKey === undefined ? undefined : await firstRow(tx, findBookingByRequest({ workspaceId, calendarId: id, requestKey }))
    if (earlier && isExact && !earlier.request_hash?.equals(hash)) {
      throw problem('VALIDATION_ERROR', 'Idempotency-Key was used on this page with another body')
    }
    if (earlier) return firstAnswer(inside, earlier)
    const minutes = requireDuration(open.page, input.duration)
    const at = await requireSlot(inside, open, input.start, minutes)
    return createBooking(inside, open, { ...input, at, minutes }, requestKey ?? null, hash)
  })
}

/** The answer to the first request with this key on the page; undefined when there was none. For pages that repeat it whatever is sent. */
export async function findFirstAnswer(scope: Scope, { calendar }: OpenBookingPage, requestKey: string): Promise<Booked | undefined> {
  const earlier = await firstRow(scope.db, findBookingByRequest({ workspaceId: scope.workspace.id, calendarId: calendar.id, requestKey }))
  return earlier && firstAnswer(scope, earlier)
}

async function firstAnswer(scope: Scope, earlier: Booking): Promise<Booked> {
  const event = await firstRow(scope.db, findEvent({ workspaceId: scope.workspace.id, id: earlier.event_id }))
  const guest = (await findAttendees(scope.db, scope.workspace.id, [earlier.event_id]))
    .get(earlier.event_id)
    ?.find(({ id }) => id === earlier.attendee_id)
  if (!event || !guest) throw problem('NOT_FOUND')
  const { start, end } = eventTimeOf(event)
  return { ok: true, start: instantText(start), end: instantText(end), token: guestTokenOf(scope, guest) }
}

async function requireSlot(scope: Scope, open: OpenBookingPage, text: string, minutes: number): Promise<number> {
  const at = instantMs(text)
  if (at === undefined) throw problem('VALIDATION_ERROR', 'start must be an RFC 3339 instant')
  const [start] = await listSlotStarts(scope, open, { from: at, to: at + 1 }, minutes)
  if (!start || start.reason === 'notice' || start.reason === 'horizon')
    throw problem('VALIDATION_ERROR', 'start must be one of the slots of this page')
  if (start.reason !== undefined) throw problem('SLOT_TAKEN', 'This time is taken')
  return at
}

async function createBooking(
  scope: Scope,
  { calendar, page }: OpenBookingPage,
  { at, minutes, name, email, notes = '' }: BookingInput & { readonly at: number; readonly minutes: number },
  requestKey: string | null,
  requestHash: Buffer,
): Promise<Booked> {
  const { db, workspace } = scope
  const to = at + minutes * minuteMs
  const title = cutText(`${page.title || calendar.name}: ${name}`, 300)
  const eventInput = {
    title,
    start: instantText(at),
    end: instantText(to),
    description: notes,
    location: page.location,
    timezone: calendar.timezone,
  }
  const event = newEventRow(scope, { calendar }, eventInput, 'booking', null)
  await insertEvents(db, workspace.id, [withExtent(event)])
  const guest = newAttendee(scope, event.id, { user_id: null, email, name }, 0, { status: 'accepted', isBooker: true })
  await insertAttendees(db, workspace.id, [guest])
  const ids = { eventId: event.id, calendarId: calendar.id, attendeeId: guest.id }
  await db.query(
    insertBooking({ workspaceId: workspace.id, ...ids, from: new Date(at), to: new Date(to), name, email, notes, requestKey, requestHash }),
  )
  await informGuests(scope, guestMessages(undefined, { root: { event, guests: [guest] }, exceptions: [] }, null), { isBooked: true })
  await announceEvent(scope, calendar, 'created', event, [guest])
  await announceEvent(scope, calendar, 'booked', event, [guest])
  await scheduleReminders(scope, calendar, [event])
  return { ok: true, start: eventInput.start, end: eventInput.end, token: guestTokenOf(scope, guest) }
}
