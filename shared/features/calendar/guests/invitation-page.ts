import { hashSecret } from '#shared/core/people/tokens.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import type { Invitation } from '#shared/features/calendar/booking/schemas.ts'
import { cancelBooking, findBooking } from '#shared/features/calendar/booking/store.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { timeText } from '#shared/features/calendar/event-time.ts'
import { eventTimeOf, seriesOf, takesPlace, withExtent } from '#shared/features/calendar/events/event.ts'
import type { PageAnswer } from '#shared/features/calendar/events/schemas.ts'
import { type EventRow, findEvent, findExceptions, lockEvent, updateEvents } from '#shared/features/calendar/events/store.ts'
import { guestMessages } from '#shared/features/calendar/guests/guest-messages.ts'
import { informGuests } from '#shared/features/calendar/guests/inform-guests.ts'
import { organizerInFiles, organizerOf } from '#shared/features/calendar/guests/organizer.ts'
import { type Attendee, findAttendeeByToken, findAttendees, writeAnswer } from '#shared/features/calendar/guests/store.ts'
import { withExceptions } from '#shared/features/calendar/ics/write-event.ts'
import { writeIcs } from '#shared/features/calendar/ics/write-file.ts'
import { lastStart } from '#shared/features/calendar/series/expand.ts'
import { changeSeries, highestSequence } from '#shared/features/calendar/series/plan-change.ts'
import { eventTimeInWords, ruleInWords } from '#shared/features/calendar/time-in-words.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** An invitation page expires 30 days after its event, or after the last occurrence of a series (docs/contract/public.md#invitations). */
const expiryMs = 30 * dayMs

interface OpenInvitation {
  readonly guest: Attendee
  readonly event: EventRow
  readonly calendar: Calendar
}

/** The invitation of a guest's secret. Throws NOT_FOUND for an unknown secret, or if the event ended over 30 days ago. */
async function requireOpenInvitation(scope: Scope, token: string): Promise<OpenInvitation> {
  const { db, workspace } = scope
  const guest = await firstRow(db, findAttendeeByToken({ workspaceId: workspace.id, tokenHash: hashSecret(token) }))
  const event = guest && (await firstRow(db, findEvent({ workspaceId: workspace.id, id: guest.event_id })))
  const calendar = event && (await firstRow(db, findCalendar({ workspaceId: workspace.id, userId: null, id: event.calendar_id })))
  if (!guest || !event || !calendar || hasEnded(event, scope.now().getTime() - expiryMs)) throw problem('NOT_FOUND')
  return { guest, event, calendar }
}

function hasEnded(event: EventRow, before: number): boolean {
  const { start, end } = eventTimeOf(event)
  const series = seriesOf(event)
  const last = series ? lastStart(series) : start
  return last !== undefined && last + (end - start) < before
}

/** The answer's shape of an invitation. Throws NOT_FOUND for an unknown or expired secret. */
export const viewInvitation = async (scope: Scope, token: string): Promise<Invitation> =>
  viewOf(scope, await requireOpenInvitation(scope, token))

/** Writes a guest's answer. When a booker declines, the booking is cancelled for good; a cancelled event keeps its answers. */
export function answerByToken(scope: Scope, token: string, status: PageAnswer): Promise<Invitation> {
  return scope.db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    const { event: found } = await requireOpenInvitation(txScope, token)
    await tx.query(lockEvent({ workspaceId: scope.workspace.id, id: found.series_id ?? found.id }))
    const invited = await requireOpenInvitation(txScope, token)
    const { guest, event, calendar } = invited
    if (!takesPlace(event) || guest.status === status) return viewOf(txScope, invited)
    await tx.query(writeAnswer({ workspaceId: scope.workspace.id, eventId: guest.event_id, id: guest.id, status }))
    const guests = (await findAttendees(tx, scope.workspace.id, [event.id])).get(event.id) ?? []
    await announceEvent(txScope, calendar, 'answered', event, guests, { guest: { id: guest.id, status } })
    const answered = { ...invited, guest: { ...guest, status } }
    return viewOf(txScope, guest.is_booker && status === 'declined' ? await cancelBookedEvent(txScope, answered) : answered)
  })
}

/** Cancels a booking; all occurrences if the organizer has turned it into a series. */
async function cancelBookedEvent(scope: Scope, invited: OpenInvitation): Promise<OpenInvitation> {
  const { event, calendar } = invited
  const { db, workspace } = scope
  const exceptions = event.recurrence === null ? [] : await findExceptions(db, workspace.id, [event.id])
  const known = [event, ...exceptions]
  const ids = known.map(({ id }) => id)
  const guestsOf = await findAttendees(db, workspace.id, ids)
  await db.query(cancelBooking({ workspaceId: workspace.id, eventId: event.id }))
  const rows = await changeSeries({ series: event, exceptions }, { status: 'cancelled' }, scope.now(), transactionBudget(scope))
  const [after = event, ...others] = rows.flatMap((row) => row.after ?? [])
  await updateEvents(db, workspace.id, [after, ...others].map(withExtent))
  const withGuestLists = ([root = event, ...rest]: readonly EventRow[]) => {
    const withGuests = (one: EventRow) => ({ event: one, guests: guestsOf.get(one.id) ?? [] })
    return { root: withGuests(root), exceptions: rest.map(withGuests) }
  }
  await informGuests(scope, guestMessages(withGuestLists(known), withGuestLists([after, ...others]), null))
  await announceEvent(scope, calendar, 'cancelled', after, guestsOf.get(event.id) ?? [])
  return { ...invited, event: after }
}

async function viewOf(scope: Scope, { guest, event, calendar }: OpenInvitation): Promise<Invitation> {
  const when = eventTimeOf(event)
  const repeats = ruleInWords(event.recurrence)
  const organizer = event.organizer ?? (await organizerOf(scope, event.created_by, calendar))
  return {
    title: event.title,
    description: event.description,
    location: event.location,
    start: timeText(when.start, when.allDay),
    end: timeText(when.end, when.allDay),
    all_day: when.allDay,
    timezone: when.zone,
    when: `${eventTimeInWords(when)}${repeats === '' ? '' : `, ${repeats}`}`,
    recurring: event.recurrence !== null,
    cancelled: !takesPlace(event),
    organizer: organizer.name,
    org_name: scope.workspace.name,
    guest_name: guest.name,
    guest_email: guest.email,
    status: guest.status,
    booking: (await firstRow(scope.db, findBooking({ workspaceId: scope.workspace.id, eventId: event.id }))) !== undefined,
  }
}

/** The .ics file of an invitation: REQUEST, or CANCEL for a cancelled event, as in the mails. Throws NOT_FOUND like `viewInvitation`. */
export async function invitationFile(scope: Scope, token: string): Promise<string> {
  const { guest, event, calendar } = await requireOpenInvitation(scope, token)
  const series =
    event.series_id === null ? undefined : await firstRow(scope.db, findEvent({ workspaceId: scope.workspace.id, id: event.series_id }))
  const organizer = event.organizer ?? organizerInFiles(scope.config, await organizerOf(scope, event.created_by, calendar))
  const method = takesPlace(event) ? 'REQUEST' : 'CANCEL'
  const exceptions = event.recurrence === null ? [] : await findExceptions(scope.db, scope.workspace.id, [event.id])
  const ids = exceptions.map(({ id }) => id)
  const guestsOf = await findAttendees(scope.db, scope.workspace.id, ids)
  const guestIn = ({ id }: EventRow) => guestsOf.get(id)?.find(({ email }) => email.toLowerCase() === guest.email.toLowerCase())
  // The same SEQUENCE as in the mails: the highest of the UID (`guestMessages`).
  const withSequence = (one: EventRow) => ({ ...one, sequence: highestSequence([event, ...exceptions]) })
  const out = { event: withSequence(event), series, access: 'details' as const, organizer, attendees: [guest] }
  return writeIcs({ method, events: withExceptions(out, exceptions.map(withSequence), guestIn), now: scope.now() })
}
