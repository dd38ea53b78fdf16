import { asksAgain, isSignificant } from '#shared/calendar/apply-change.ts'
import { deleteAttendees, insertAttendees, renameAttendees, resetAnswers, type WrittenAttendee } from '#shared/calendar/attendees-store.ts'
import { releaseSlots } from '#shared/calendar/booking/booking-store.ts'
import type { Calendar } from '#shared/calendar/calendars-store.ts'
import type { Attendee, EventRow } from '#shared/calendar/event.ts'
import { type EventSet, guestsIn } from '#shared/calendar/event-set.ts'
import { deleteEvents, insertEvents, updateEvents } from '#shared/calendar/events-store.ts'
import { guestChanges, type InvitedSet, type Message } from '#shared/calendar/guest-changes.ts'
import { type Guest, newAttendee } from '#shared/calendar/guests.ts'
import { type Checked, requireNoOverlap } from '#shared/calendar/overlap.ts'
import type { RowChange } from '#shared/calendar/plan-change.ts'
import { written } from '#shared/calendar/rows.ts'
import { noteSignals } from '#shared/calendar/signals.ts'
import { tell } from '#shared/calendar/tell.ts'
import { announceEvent } from '#shared/calendar/trigger.ts'
import type { Scope } from '#shared/scope/scope.ts'

interface Change {
  readonly rows: readonly RowChange[]
  readonly set: EventSet
  /** Those who are invited from now on; undefined leaves the guests as they are. */
  readonly guests: readonly Guest[] | undefined
  readonly isTold: boolean
  readonly checked: Checked | 'inside'
}

/** Writes a change of events and of their guests, informs whom it concerns, and gives the guests by event. */
export async function writeChanges(scope: Scope, calendar: Calendar, change: Change): Promise<Map<string, readonly Attendee[]>> {
  const { rows, set, isTold } = change
  const { db, workspace } = scope
  const isHere = (event: EventRow) => event.calendar_id === calendar.id
  await requireNoOverlap(scope, calendar, withSeries(set, rows).filter(isHere), change.checked)
  const added = rows.flatMap(({ before, after }) => (after && !before ? [written(after)] : []))
  const changed = rows.flatMap(({ before, after }) => (after && before ? [written(after)] : []))
  const gone = rows.flatMap(({ before, after }) => (before && !after ? [before.id] : []))
  // First what goes: an exception may come to stand for the occurrence of one that is deleted.
  await deleteEvents(db, workspace.id, gone)
  await insertEvents(db, workspace.id, added)
  await updateEvents(db, workspace.id, changed)
  const guestsOf = new Map<string, readonly Attendee[]>()
  const parts = rows.flatMap(({ before, after, keepsGuests }) =>
    after ? [guestsAfter(scope, set, before, after, keepsGuests ? undefined : change.guests)] : [],
  )
  for (const { event, now } of parts) guestsOf.set(event.id, now)
  await deleteAttendees(
    db,
    workspace.id,
    parts.map(({ event }) => event.id),
    parts.flatMap(({ gone }) => gone),
  )
  await insertAttendees(
    db,
    workspace.id,
    parts.flatMap(({ added }) => added),
  )
  await renameAttendees(
    db,
    workspace.id,
    parts.flatMap(({ renamed }) => renamed),
  )
  await resetAnswers(
    db,
    workspace.id,
    parts.flatMap(({ event, again }) => (again ? [event.id] : [])),
  )
  await releaseSlots(
    db,
    workspace.id,
    rows.flatMap(({ before, after }) => (before && after && isSignificant(before, after) ? [after.id] : [])),
  )
  if (isTold) await tell(scope, messagesOf(set, rows, guestsOf, scope.actor.id))
  await announceRows(scope, calendar, rows, guestsOf, set)
  const kept = rows.flatMap(({ after }) => after ?? [])
  await noteSignals(scope, calendar, kept.filter(isHere))
  return guestsOf
}

interface GuestsAfter {
  readonly event: EventRow
  readonly now: readonly Attendee[]
  readonly added: readonly WrittenAttendee[]
  readonly gone: readonly string[]
  readonly renamed: readonly Pick<Attendee, 'event_id' | 'id' | 'name'>[]
  /** Whether they have to answer again. */
  readonly again: boolean
}

/** The guests of an event after a change. An occurrence that becomes a row of its own, and the later part of a series, has those of it. */
function guestsAfter(
  scope: Scope,
  set: EventSet,
  before: EventRow | undefined,
  after: EventRow,
  invited: readonly Guest[] | undefined,
): GuestsAfter {
  const known = before ? guestsIn(set, before) : []
  const inherited = before ? [] : guestsIn(set, set.series ?? set.event)
  const again = before !== undefined && asksAgain(before, after)
  const answered = again ? known.map((guest) => ({ ...guest, status: guest.is_booker ? guest.status : ('needs_action' as const) })) : known
  const wanted: readonly Guest[] = invited ?? (before ? known : inherited)
  const emails = new Set(wanted.map(({ email }) => email.toLowerCase()))
  const names = new Map(wanted.map(({ email, name }) => [email.toLowerCase(), name]))
  const stay = answered
    .filter(({ email }) => emails.has(email.toLowerCase()))
    .map((guest) => ({ ...guest, name: names.get(guest.email.toLowerCase()) || guest.name }))
  const nameOf = new Map(known.map(({ id, name }) => [id, name]))
  const renamed = stay.filter(({ id, name }) => name !== nameOf.get(id)).map(({ event_id, id, name }) => ({ event_id, id, name }))
  const has = new Set(stay.map(({ email }) => email.toLowerCase()))
  const added = wanted
    .filter(({ email }) => !has.has(email.toLowerCase()))
    .map((guest, index) => {
      const from = inherited.find(({ email }) => email.toLowerCase() === guest.email.toLowerCase())
      const { user_id, email, name } = guest
      return newAttendee(
        scope,
        after.id,
        { user_id, email, name },
        stay.length + index,
        from ? { status: from.status, isBooker: from.is_booker } : {},
      )
    })
  const gone = known.filter(({ email }) => !emails.has(email.toLowerCase())).map(({ id }) => id)
  return { event: after, now: [...stay, ...added], added, gone, renamed, again }
}

/** The events of a change with all that belongs to the same series: its other occurrences are no events beside it. */
const withSeries = ({ series, event, exceptions }: EventSet, rows: readonly RowChange[]): EventRow[] =>
  stateAfter([series ?? event, ...exceptions], rows)

/** Events as a change leaves them. */
function stateAfter(known: readonly EventRow[], rows: readonly RowChange[]): EventRow[] {
  const changed = new Map(rows.flatMap(({ before, after }) => (before ? [[before.id, after] as const] : [])))
  const added = rows.flatMap(({ before, after }) => (after && !before ? [after] : []))
  return [...known.flatMap((one) => (changed.has(one.id) ? (changed.get(one.id) ?? []) : [one])), ...added]
}

/** What guests must hear of a change, for each UID: the series and, where it was cut, its later part. */
function messagesOf(
  set: EventSet,
  rows: readonly RowChange[],
  guestsAfter: ReadonlyMap<string, readonly Attendee[]>,
  actorId: string | null,
): Message[] {
  const known = [set.series ?? set.event, ...set.exceptions]
  const before = setsOf(known, (event) => guestsIn(set, event))
  const after = setsOf(stateAfter(known, rows), (event) => guestsAfter.get(event.id) ?? guestsIn(set, event))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((uid) => guestChanges(before.get(uid), after.get(uid), actorId))
}

function setsOf(events: readonly EventRow[], guestsOf: (event: EventRow) => readonly Attendee[]): Map<string, InvitedSet> {
  const invited = (event: EventRow) => ({ event, guests: guestsOf(event) })
  const roots = events.filter(({ series_id }) => series_id === null)
  return new Map(
    roots.map((root) => [root.uid, { root: invited(root), exceptions: events.filter((one) => one.series_id === root.id).map(invited) }]),
  )
}

/** Tells flows: a change of a series is one event, whatever it does to the rows of its occurrences. */
async function announceRows(
  scope: Scope,
  calendar: Calendar,
  rows: readonly RowChange[],
  guestsOf: ReadonlyMap<string, readonly Attendee[]>,
  set: EventSet,
): Promise<void> {
  const [first] = rows
  const told = first?.after ?? first?.before
  if (!told) return
  const isOff = (row: EventRow | undefined) => row === undefined || row.status === 'cancelled' || row.is_removed
  const word = isOff(first?.after) && !isOff(first?.before ?? first?.was) ? 'cancelled' : 'updated'
  await announceEvent(
    scope,
    told.calendar_id === set.calendar.id ? set.calendar : calendar,
    word,
    told,
    guestsOf.get(told.id) ?? guestsIn(set, told),
  )
}
