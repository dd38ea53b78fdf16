import { createHash } from 'node:crypto'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import { requireNoOverlap } from '#shared/features/calendar/availability/overlap.ts'
import type { Booked, BookInput } from '#shared/features/calendar/booking/schemas.ts'
import { type OpenPage, requireDuration, requirePage, startsOfPage } from '#shared/features/calendar/booking/slots.ts'
import { type Booking, findBookingByRequest, insertBooking, lockPerson } from '#shared/features/calendar/booking/store.ts'
import { lockCalendar } from '#shared/features/calendar/calendars/store.ts'
import { newRow } from '#shared/features/calendar/events/create-event.ts'
import { whenOf } from '#shared/features/calendar/events/event.ts'
import { written } from '#shared/features/calendar/events/event-extent.ts'
import { findEvent, insertEvents } from '#shared/features/calendar/events/store.ts'
import { guestChanges } from '#shared/features/calendar/guests/guest-messages.ts'
import { newAttendee, tokenOf } from '#shared/features/calendar/guests/guests.ts'
import { tell } from '#shared/features/calendar/guests/inform-guests.ts'
import { findAttendees, insertAttendees } from '#shared/features/calendar/guests/store.ts'
import { noteSignals } from '#shared/features/calendar/reminders/schedule.ts'
import { instantMs, instantText, minuteMs } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { turns } from '#shared/platform/kernel/process/keyed-locks.ts'

/** Bookings of one page run one after the other, so that a crowd of visitors does not take all database connections. */
const turnOf = turns()

/** Identifies one attempt to book, unique per page. */
export interface BookingRequest {
  /** Undefined when the visitor sent none. The attempt then never counts as a repetition. */
  readonly key: string | undefined
  /** True refuses the same key with another body, like an Idempotency-Key. False returns the first answer, as for a hosted page's id. */
  readonly isExact: boolean
}

/**
 * Books a slot of a page for a visitor and mails the confirmation. A repeated request key returns the first answer. Throws
 * VALIDATION_ERROR for a time that is no slot of the page, or for an exact key with another body; SLOT_TAKEN for a time that is taken.
 * Bookings of one page, person or calendar run one after the other. Throws NOT_FOUND when the page was closed meanwhile.
 */
export const book = (scope: Scope, page: OpenPage, input: BookInput, request: BookingRequest): Promise<Booked> =>
  turnOf(`${scope.workspace.id} ${page.calendar.key}`, () => bookInTurn(scope, page, input, request))

function bookInTurn(scope: Scope, { calendar }: OpenPage, input: BookInput, { key: requestKey, isExact }: BookingRequest): Promise<Booked> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    if (calendar.owner_id !== null) await lockPerson(tx, scope.workspace.id, calendar.owner_id)
    await lockCalendar(tx, scope.workspace.id, calendar.id)
    // The settings of the page may have changed before the locks were taken.
    const open = await requirePage(inside, calendar.key)
    // The locks are of the calendar that was found first; another one may have its key by now.
    if (open.calendar.id !== calendar.id) throw problem('NOT_FOUND')
    const hash = createHash('sha256')
      .update(JSON.stringify([input.start, input.duration, input.name, input.email, input.notes]))
      .digest()
    const earlier = requestKey === undefined ? undefined : await findBookingByRequest(tx, scope.workspace.id, calendar.id, requestKey)
    if (earlier && isExact && !earlier.request_hash?.equals(hash)) {
      throw problem('VALIDATION_ERROR', 'Idempotency-Key was used on this page with another body')
    }
    if (earlier) return firstAnswer(inside, earlier)
    const minutes = requireDuration(open.page, input.duration)
    const at = await requireSlot(inside, open, input.start, minutes)
    return createBooking(inside, open, { ...input, at, minutes }, requestKey ?? null, hash)
  })
}

async function firstAnswer(scope: Scope, earlier: Booking): Promise<Booked> {
  const event = await findEvent(scope.db, scope.workspace.id, earlier.event_id)
  const guest = (await findAttendees(scope.db, scope.workspace.id, [earlier.event_id]))
    .get(earlier.event_id)
    ?.find(({ id }) => id === earlier.attendee_id)
  if (!event || !guest) throw problem('NOT_FOUND')
  const { start, end } = whenOf(event)
  return { ok: true, start: instantText(start), end: instantText(end), token: tokenOf(scope, guest) }
}

async function requireSlot(scope: Scope, open: OpenPage, text: string, minutes: number): Promise<number> {
  const at = instantMs(text)
  if (at === undefined) throw problem('VALIDATION_ERROR', 'start must be an RFC 3339 instant')
  const [start] = await startsOfPage(scope, open, { from: at, to: at + 1 }, minutes)
  if (!start || start.reason === 'notice' || start.reason === 'horizon')
    throw problem('VALIDATION_ERROR', 'start must be one of the slots of this page')
  if (start.reason !== undefined) throw problem('SLOT_TAKEN', 'This time is taken')
  return at
}

async function createBooking(
  scope: Scope,
  { calendar, page }: OpenPage,
  { at, minutes, name, email, notes = '' }: BookInput & { readonly at: number; readonly minutes: number },
  requestKey: string | null,
  requestHash: Buffer,
): Promise<Booked> {
  const { db, workspace } = scope
  const to = at + minutes * minuteMs
  const title = `${page.title || calendar.name}: ${name}`.slice(0, 300)
  const eventInput = {
    title,
    start: instantText(at),
    end: instantText(to),
    description: notes,
    location: page.location,
    timezone: calendar.timezone,
  }
  const event = newRow(scope, { calendar, access: 'write' }, eventInput, 'booking', null)
  await requireNoOverlap(scope, calendar, [event], 'inside')
  await insertEvents(db, workspace.id, [written(event)])
  const guest = newAttendee(scope, event.id, { user_id: null, email, name }, 0, { status: 'accepted', isBooker: true })
  await insertAttendees(db, workspace.id, [guest])
  const ids = { eventId: event.id, calendarId: calendar.id, attendeeId: guest.id }
  await insertBooking(db, workspace.id, { ...ids, from: new Date(at), to: new Date(to), name, email, notes, requestKey, requestHash })
  await tell(scope, guestChanges(undefined, { root: { event, guests: [guest] }, exceptions: [] }, null), { isBooked: true })
  await announceEvent(scope, calendar, 'created', event, [guest])
  await noteSignals(scope, calendar, [event])
  return { ok: true, start: eventInput.start, end: eventInput.end, token: tokenOf(scope, guest) }
}
