import { isSignificant } from '#shared/calendar/apply-change.ts'
import { deleteAttendees, insertAttendees, renameAttendees, resetAnswers, type WrittenAttendee } from '#shared/calendar/attendees-store.ts'
import { releaseSlots } from '#shared/calendar/booking/booking-store.ts'
import type { Calendar } from '#shared/calendar/calendars-store.ts'
import type { Attendee, EventRow } from '#shared/calendar/event.ts'
import { type EventSet, guestsIn } from '#shared/calendar/event-set.ts'
import { deleteEvents, insertEvents, updateEvents } from '#shared/calendar/events-store.ts'
import { type Guest, newAttendee } from '#shared/calendar/guests.ts'
import { asksAnew, hear, type Message } from '#shared/calendar/hear.ts'
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

/** Writes what becomes of events and their guests, lets everybody hear what concerns them, and gives the guests by event. */
export async function writeChanges(scope: Scope, calendar: Calendar, change: Change): Promise<Map<string, readonly Attendee[]>> {
  const { rows, set, isTold } = change
  const { db, workspace } = scope
  const kept = rows.flatMap(({ after }) => after ?? [])
  await requireNoOverlap(scope, calendar, kept, change.checked)
  const added = rows.flatMap(({ before, after }) => (after && !before ? [written(after)] : []))
  const changed = rows.flatMap(({ before, after }) => (after && before ? [written(after)] : []))
  await insertEvents(db, workspace.id, added)
  await updateEvents(db, workspace.id, changed)
  const guestsOf = new Map<string, readonly Attendee[]>()
  const parts = rows.flatMap(({ before, after }) => (after ? [guestsAfter(scope, set, before, after, change.guests)] : []))
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
  if (isTold) await tellAll(scope, set, rows, guestsOf)
  await deleteEvents(
    db,
    workspace.id,
    rows.flatMap(({ before, after }) => (before && !after ? [before.id] : [])),
  )
  await announceRows(scope, calendar, rows, guestsOf, set)
  await noteSignals(scope, calendar, kept)
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
  const again = before !== undefined && asksAnew(before, after)
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

/** Lets guests hear: of a series with its exceptions in one mail, of an occurrence alone. */
async function tellAll(
  scope: Scope,
  set: EventSet,
  rows: readonly RowChange[],
  guestsOf: ReadonlyMap<string, readonly Attendee[]>,
): Promise<void> {
  /** Who has been asked to a series as a whole, by address. */
  const asked = new Map<string, Set<string>>()
  for (const { before, after, was } of rows) {
    const now = after ? (guestsOf.get(after.id) ?? []) : []
    const prior = before ? guestsIn(set, before) : was ? seriesGuestsAs(guestsIn(set, set.series ?? set.event), now) : []
    const earlier = before ?? was
    const messages = hear(earlier && { event: earlier, guests: prior }, after && { event: after, guests: now }, scope.actor.id)
    const guests = new Map([...prior, ...now].map((guest) => [guest.id, guest]))
    const withSeries = asked.get(after?.series_id ?? '')
    const emailOf = ({ guestId }: Message) => guests.get(guestId)?.email.toLowerCase() ?? ''
    const news = messages.filter((message) => message.method === 'CANCEL' || !withSeries?.has(emailOf(message)))
    if (after?.recurrence) asked.set(after.id, new Set(news.map(emailOf)))
    const exceptions = after?.recurrence ? rows.flatMap((row) => (row.after?.series_id === after.id ? [row.after] : [])) : []
    await tell(scope, news, [...guests.values()], { exceptions, isNew: earlier === undefined })
  }
}

/** The guests of a series by the ids that they have as guests of one occurrence; those who are none of it by their own. */
const seriesGuestsAs = (ofSeries: readonly Attendee[], now: readonly Attendee[]): Attendee[] =>
  ofSeries.map((guest) => ({ ...guest, id: now.find(({ email }) => email.toLowerCase() === guest.email.toLowerCase())?.id ?? guest.id }))

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
  await announceEvent(scope, calendar, word, told, guestsOf.get(told.id) ?? guestsIn(set, told))
}
