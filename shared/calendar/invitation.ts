import { findAttendeeByToken, findAttendees, writeAnswer } from '#shared/calendar/attendees-store.ts'
import { cancelBooking, findBooking } from '#shared/calendar/booking/booking-store.ts'
import type { Invitation } from '#shared/calendar/booking/schemas.ts'
import { transactionBudget } from '#shared/calendar/budget.ts'
import { type Calendar, findCalendar } from '#shared/calendar/calendars-store.ts'
import { type Attendee, type EventRow, seriesOf, takesPlace, whenOf } from '#shared/calendar/event.ts'
import { findEvent, findExceptions, lockEvent, updateEvents } from '#shared/calendar/events-store.ts'
import { lastStart } from '#shared/calendar/expand.ts'
import { guestChanges } from '#shared/calendar/guest-changes.ts'
import { withExceptions } from '#shared/calendar/ics/with-exceptions.ts'
import { writeIcs } from '#shared/calendar/ics/write.ts'
import { organizerInFiles, organizerOf } from '#shared/calendar/organizer.ts'
import { changeSeries, lastSequence } from '#shared/calendar/plan-change.ts'
import { written } from '#shared/calendar/rows.ts'
import { tell } from '#shared/calendar/tell.ts'
import { dayMs } from '#shared/calendar/time.ts'
import { announceEvent } from '#shared/calendar/trigger.ts'
import { shownTime } from '#shared/calendar/when.ts'
import { ruleWords, whenWords } from '#shared/calendar/words.ts'
import { problem } from '#shared/kernel/errors.ts'
import { hashSecret } from '#shared/people/tokens.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/** Invitations open until so long after their event, a series' after its last occurrence (decisions, Calendar). */
const openMs = 30 * dayMs

interface Invited {
  readonly guest: Attendee
  readonly event: EventRow
  readonly calendar: Calendar
}

/** What a guest's secret opens. NOT_FOUND for one that is none, or of an event that ended 30 days ago. */
async function requireInvited(scope: Scope, token: string): Promise<Invited> {
  const { db, workspace } = scope
  const guest = await findAttendeeByToken(db, workspace.id, hashSecret(token))
  const event = guest && (await findEvent(db, workspace.id, guest.event_id))
  const calendar = event && (await findCalendar(db, workspace.id, null, event.calendar_id))
  if (!guest || !event || !calendar || hasEnded(event, scope.now().getTime() - openMs)) throw problem('NOT_FOUND')
  return { guest, event, calendar }
}

function hasEnded(event: EventRow, before: number): boolean {
  const { start, end } = whenOf(event)
  const series = seriesOf(event)
  const last = series ? lastStart(series) : start
  return last !== undefined && last + (end - start) < before
}

/** An invitation as its guest sees it. */
export const seeInvitation = async (scope: Scope, token: string): Promise<Invitation> => viewOf(scope, await requireInvited(scope, token))

/** A guest's answer. Of a booker who declines the booking is cancelled, and stays so whatever it answers later. */
export function answerByToken(scope: Scope, token: string, status: 'accepted' | 'declined' | 'tentative'): Promise<Invitation> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const { event: found } = await requireInvited(inside, token)
    await lockEvent(tx, scope.workspace.id, found.series_id ?? found.id)
    const invited = await requireInvited(inside, token)
    const { guest } = invited
    if (!takesPlace(invited.event)) return viewOf(inside, invited)
    await writeAnswer(tx, scope.workspace.id, guest, status)
    const answered = { ...invited, guest: { ...guest, status } }
    return viewOf(inside, guest.is_booker && status === 'declined' ? await callOff(inside, answered) : answered)
  })
}

/** Calls a booking off, of one that its organizer has made repeat all occurrences. */
async function callOff(scope: Scope, invited: Invited): Promise<Invited> {
  const { event, calendar } = invited
  const { db, workspace } = scope
  const exceptions = event.recurrence === null ? [] : await findExceptions(db, workspace.id, [event.id])
  const known = [event, ...exceptions]
  const ids = known.map(({ id }) => id)
  const guestsOf = await findAttendees(db, workspace.id, ids)
  await cancelBooking(db, workspace.id, event.id)
  const rows = await changeSeries({ series: event, exceptions }, { status: 'cancelled' }, scope.now(), transactionBudget(scope))
  const [after = event, ...others] = rows.flatMap((row) => row.after ?? [])
  await updateEvents(db, workspace.id, [after, ...others].map(written))
  const stateOf = ([root = event, ...rest]: readonly EventRow[]) => {
    const withGuests = (one: EventRow) => ({ event: one, guests: guestsOf.get(one.id) ?? [] })
    return { root: withGuests(root), exceptions: rest.map(withGuests) }
  }
  await tell(scope, guestChanges(stateOf(known), stateOf([after, ...others]), null))
  await announceEvent(scope, calendar, 'cancelled', after, guestsOf.get(event.id) ?? [])
  return { ...invited, event: after }
}

async function viewOf(scope: Scope, { guest, event, calendar }: Invited): Promise<Invitation> {
  const when = whenOf(event)
  const words = ruleWords(event.recurrence)
  const organizer = event.organizer ?? (await organizerOf(scope, event.created_by, calendar))
  return {
    ...{ title: event.title, description: event.description, location: event.location },
    start: shownTime(when.start, when.allDay),
    end: shownTime(when.end, when.allDay),
    ...{ all_day: when.allDay, timezone: when.zone, when: `${whenWords(when)}${words === '' ? '' : `, ${words}`}` },
    recurring: event.recurrence !== null,
    cancelled: !takesPlace(event),
    organizer: organizer.name,
    org_name: scope.workspace.name,
    ...{ guest_name: guest.name, guest_email: guest.email, status: guest.status },
    booking: (await findBooking(scope.db, scope.workspace.id, event.id)) !== undefined,
  }
}

/** The event of an invitation as a file, that asks or calls off as the mails do. */
export async function invitationFile(scope: Scope, token: string): Promise<string> {
  const { guest, event, calendar } = await requireInvited(scope, token)
  const series = event.series_id === null ? undefined : await findEvent(scope.db, scope.workspace.id, event.series_id)
  const organizer = event.organizer ?? organizerInFiles(scope.config, await organizerOf(scope, event.created_by, calendar))
  const method = takesPlace(event) ? 'REQUEST' : 'CANCEL'
  const exceptions = event.recurrence === null ? [] : await findExceptions(scope.db, scope.workspace.id, [event.id])
  const ids = exceptions.map(({ id }) => id)
  const guestsOf = await findAttendees(scope.db, scope.workspace.id, ids)
  const guestIn = ({ id }: EventRow) => guestsOf.get(id)?.find(({ email }) => email.toLowerCase() === guest.email.toLowerCase())
  // The number of the mails, which is one for all of a series (shared/calendar/guest-changes.ts).
  const numbered = (one: EventRow) => ({ ...one, sequence: lastSequence([event, ...exceptions]) })
  const out = { event: numbered(event), series, sight: 'details' as const, organizer, attendees: [guest] }
  return writeIcs({ method, events: withExceptions(out, exceptions.map(numbered), guestIn), now: scope.now() })
}
