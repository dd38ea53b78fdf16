import { isDeepStrictEqual } from 'node:util'
import type { Scope } from '#shared/core/scope/scope.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import { type OverlapCheck, requireNoOverlap } from '#shared/features/calendar/availability/overlap.ts'
import { releaseSlots } from '#shared/features/calendar/booking/store.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { needsNewAnswers } from '#shared/features/calendar/events/apply-change.ts'
import { takesPlace, withExtent } from '#shared/features/calendar/events/event.ts'
import { type EventSet, guestsOfEvent } from '#shared/features/calendar/events/event-set.ts'
import { deleteEvents, type EventRow, insertEvents, updateEvents } from '#shared/features/calendar/events/store.ts'
import { type GuestMessage, guestMessages, type SeriesWithGuests } from '#shared/features/calendar/guests/guest-messages.ts'
import { type Guest, newAttendee } from '#shared/features/calendar/guests/guests.ts'
import { informGuests } from '#shared/features/calendar/guests/inform-guests.ts'
import {
  type Attendee,
  deleteAttendees,
  insertAttendees,
  renameAttendees,
  resetAnswers,
  type WrittenAttendee,
} from '#shared/features/calendar/guests/store.ts'
import { scheduleReminders } from '#shared/features/calendar/reminders/schedule.ts'
import type { RowChange } from '#shared/features/calendar/series/plan-change.ts'

interface Change {
  readonly rows: readonly RowChange[]
  readonly set: EventSet
  /** The new guest list; undefined leaves the guests as they are. */
  readonly guests: readonly Guest[] | undefined
  readonly informsGuests: boolean
  readonly checked: OverlapCheck | 'inside'
}

/**
 * Writes row changes with their guests, queues mails to the guests concerned, announces the change and schedules reminders.
 * Returns the guests by event id. Throws SLOT_TAKEN.
 */
export async function writeChanges(scope: Scope, calendar: Calendar, change: Change): Promise<Map<string, readonly Attendee[]>> {
  const { rows, set, informsGuests } = change
  const { db, workspace } = scope
  const isInCalendar = (event: EventRow) => event.calendar_id === calendar.id
  await requireNoOverlap(scope, calendar, wholeSeriesAfter(set, rows).filter(isInCalendar), change.checked)
  const added = rows.flatMap(({ before, after }) => (after && !before ? [withExtent(after)] : []))
  const changed = rows.flatMap(({ before, after }) => (after && before ? [withExtent(after)] : []))
  const deletedIds = rows.flatMap(({ before, after }) => (before && !after ? [before.id] : []))
  // Deletes come first: a changed exception may take over the original start of a deleted one.
  await deleteEvents(db, workspace.id, deletedIds)
  await insertEvents(db, workspace.id, added)
  await updateEvents(db, workspace.id, changed)
  const guestsOf = new Map<string, readonly Attendee[]>()
  const guestLists = rows.flatMap(({ before, after, keepsGuests }) =>
    after ? [updateGuests(scope, set, before, after, keepsGuests ? undefined : change.guests)] : [],
  )
  for (const { event, guests } of guestLists) guestsOf.set(event.id, guests)
  const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)
  const removedIds = guestLists.flatMap((list) => list.removedIds)
  const invited = guestLists.flatMap((list) => list.added)
  const renamed = guestLists.flatMap((list) => list.renamed)
  const reset = guestLists.filter(({ mustAnswerAgain }) => mustAnswerAgain).map(({ event }) => event)
  await deleteAttendees(db, workspace.id, [...guestsOf.keys()], removedIds)
  await insertAttendees(db, workspace.id, invited)
  await renameAttendees(db, workspace.id, renamed)
  await resetAnswers(db, workspace.id, idsOf(reset))
  await releaseSlots(db, workspace.id, idsOf(changed))
  if (informsGuests) await informGuests(scope, messagesOf(set, rows, guestsOf, scope.actor.id))
  const inList = rows.some(isChanged) || removedIds.length + invited.length + renamed.length > 0
  await announceRows(scope, calendar, rows, guestsOf, set, inList)
  const remaining = rows.flatMap(({ after }) => after ?? [])
  await scheduleReminders(scope, calendar, remaining.filter(isInCalendar))
  return guestsOf
}

/** Whether a row has other values, apart from its stamps: a change that is sent again is none. */
const isChanged = ({ before, after }: RowChange): boolean => !before || !after || !isDeepStrictEqual(unstamped(before), unstamped(after))

const unstamped = ({ sequence: _, timed_at: __, updated_at: ___, ...row }: EventRow) => row

interface UpdatedGuests {
  readonly event: EventRow
  readonly guests: readonly Attendee[]
  readonly added: readonly WrittenAttendee[]
  readonly removedIds: readonly string[]
  readonly renamed: readonly Pick<Attendee, 'event_id' | 'id' | 'name'>[]
  readonly mustAnswerAgain: boolean
}

/** The guests of an event after a change. A new exception and the later part of a split series inherit the guests of the series. */
function updateGuests(
  scope: Scope,
  set: EventSet,
  before: EventRow | undefined,
  after: EventRow,
  invited: readonly Guest[] | undefined,
): UpdatedGuests {
  const known = before ? guestsOfEvent(set, before) : []
  const inherited = before ? [] : guestsOfEvent(set, set.series ?? set.event)
  const mustAnswerAgain = before !== undefined && needsNewAnswers(before, after)
  const answered = mustAnswerAgain
    ? known.map((guest) => ({ ...guest, status: guest.is_booker ? guest.status : ('needs_action' as const) }))
    : known
  const wanted: readonly Guest[] = invited ?? (before ? known : inherited)
  const invitedEmails = new Set(wanted.map(({ email }) => email.toLowerCase()))
  const newNames = new Map(wanted.map(({ email, name }) => [email.toLowerCase(), name]))
  const staying = answered
    .filter(({ email }) => invitedEmails.has(email.toLowerCase()))
    .map((guest) => ({ ...guest, name: newNames.get(guest.email.toLowerCase()) || guest.name }))
  const oldNames = new Map(known.map(({ id, name }) => [id, name]))
  const renamed = staying.filter(({ id, name }) => name !== oldNames.get(id)).map(({ event_id, id, name }) => ({ event_id, id, name }))
  const stayingEmails = new Set(staying.map(({ email }) => email.toLowerCase()))
  const added = wanted
    .filter(({ email }) => !stayingEmails.has(email.toLowerCase()))
    .map((guest, index) => {
      const inheritedGuest = inherited.find(({ email }) => email.toLowerCase() === guest.email.toLowerCase())
      const { user_id, email, name } = guest
      return newAttendee(
        scope,
        after.id,
        { user_id, email, name },
        staying.length + index,
        inheritedGuest ? { status: inheritedGuest.status, isBooker: inheritedGuest.is_booker } : {},
      )
    })
  const removedIds = known.filter(({ email }) => !invitedEmails.has(email.toLowerCase())).map(({ id }) => id)
  return { event: after, guests: [...staying, ...added], added, removedIds, renamed, mustAnswerAgain }
}

/** The changed events with the rest of their series, so that the overlap check does not count the series' own rows as other events. */
const wholeSeriesAfter = ({ series, event, exceptions }: EventSet, rows: readonly RowChange[]): EventRow[] =>
  stateAfter([series ?? event, ...exceptions], rows)

/** The events after a change: the known ones with row changes applied, and the added ones. */
function stateAfter(known: readonly EventRow[], rows: readonly RowChange[]): EventRow[] {
  const changed = new Map(rows.flatMap(({ before, after }) => (before ? [[before.id, after] as const] : [])))
  const added = rows.flatMap(({ before, after }) => (after && !before ? [after] : []))
  return [...known.flatMap((one) => (changed.has(one.id) ? (changed.get(one.id) ?? []) : [one])), ...added]
}

/** Messages to guests for each UID of a change: the series and, after a split, its later part. */
function messagesOf(
  set: EventSet,
  rows: readonly RowChange[],
  guestsOf: ReadonlyMap<string, readonly Attendee[]>,
  actorId: string | null,
): GuestMessage[] {
  const known = [set.series ?? set.event, ...set.exceptions]
  const before = setsByUid(known, (event) => guestsOfEvent(set, event))
  const after = setsByUid(stateAfter(known, rows), (event) => guestsOf.get(event.id) ?? guestsOfEvent(set, event))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((uid) => guestMessages(before.get(uid), after.get(uid), actorId))
}

function setsByUid(events: readonly EventRow[], guestsOf: (event: EventRow) => readonly Attendee[]): Map<string, SeriesWithGuests> {
  const invited = (event: EventRow) => ({ event, guests: guestsOf(event) })
  const roots = events.filter(({ series_id }) => series_id === null)
  return new Map(
    roots.map((root) => [root.uid, { root: invited(root), exceptions: events.filter((one) => one.series_id === root.id).map(invited) }]),
  )
}

/**
 * Announces a change to flows, and with `inList` to the list of events. A change of a series is one announcement, however many rows it
 * changes. The later part of a split series is an event of its own, and is announced as well.
 */
async function announceRows(
  scope: Scope,
  calendar: Calendar,
  rows: readonly RowChange[],
  guestsOf: ReadonlyMap<string, readonly Attendee[]>,
  set: EventSet,
  inList: boolean,
): Promise<void> {
  const [first] = rows
  const event = first?.after ?? first?.before
  if (!event) return
  const isCancelled = (row: EventRow | undefined) => row === undefined || !takesPlace(row)
  const name = isCancelled(first?.after) && !isCancelled(first?.before ?? first?.occurrenceBefore) ? 'cancelled' : 'updated'
  const announce = (as: 'created' | 'updated' | 'cancelled', one: EventRow) =>
    announceEvent(
      scope,
      one.calendar_id === set.calendar.id ? set.calendar : calendar,
      as,
      one,
      guestsOf.get(one.id) ?? guestsOfEvent(set, one),
      { inList },
    )
  await announce(name, event)
  const laterPart = rows.find(({ before, after }) => !before && after?.series_id === null)?.after
  if (laterPart) await announce(isCancelled(laterPart) ? 'cancelled' : 'created', laterPart)
}
