import { isSignificant } from '#shared/features/calendar/events/apply-change.ts'
import { originalStartOf, takesPlace } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { Attendee } from '#shared/features/calendar/guests/store.ts'
import { highestSequence, newExceptionRow } from '#shared/features/calendar/series/plan-change.ts'

/** An event with its guests. */
interface EventWithGuests {
  readonly event: EventRow
  readonly guests: readonly Pick<Attendee, 'id' | 'email' | 'name' | 'user_id'>[]
}

/** A message to one guest: an invitation or update (REQUEST), or a cancellation (CANCEL). */
export interface GuestMessage {
  readonly method: 'REQUEST' | 'CANCEL'
  readonly event: EventRow
  /** Exceptions of the series if the message is about all of it; `absent` holds ids of those that do not take place for the guest. */
  readonly exceptions: readonly EventRow[]
  readonly absent: readonly string[]
  readonly guest: EventWithGuests['guests'][number]
  readonly reason: 'invited' | 'changed' | 'cancelled'
}

/** All events of one UID with their guests: a single event, or a series with its exceptions, removed ones included. */
export interface SeriesWithGuests {
  readonly root: EventWithGuests
  readonly exceptions: readonly EventWithGuests[]
}

/**
 * Messages that update guests' calendars from one state of a UID to another; `undefined` is a UID without events.
 *
 * - A guest of the series gets one message with the whole series if the series or more than one occurrence changed, else one message with
 *   the changed occurrence.
 * - A guest of single occurrences gets one message per changed occurrence.
 * - A guest who loses all events gets one cancellation.
 * - No messages are made for events with another organizer (imported ones), or to the person who made the change.
 *
 * All messages carry the highest SEQUENCE of the UID, so that calendar programs never see it fall, whichever events they compare.
 */
export function guestMessages(
  before: SeriesWithGuests | undefined,
  after: SeriesWithGuests | undefined,
  actorId: string | null,
): GuestMessage[] {
  const known = after ?? before
  if (!known || known.root.event.organizer !== null) return []
  const change: Change = { before: indexSet(before), after: indexSet(after), occurrences: changedOccurrences(before, after) }
  const sequence = after ? highestSequenceOf(after) : highestSequenceOf(known) + 1
  const withSequence = (event: EventRow): EventRow => ({ ...event, sequence })
  const exceptions = after?.exceptions.map(({ event }) => withSequence(event)) ?? []
  return [...new Map([before, after].flatMap(guestsByAddress))]
    .filter(([, { user_id }]) => user_id === null || user_id !== actorId)
    .flatMap(([email]) => messagesTo(change, email))
    .map(({ isWholeSeries, ...message }) => ({
      ...message,
      event: withSequence(message.event),
      exceptions: isWholeSeries ? exceptions : [],
    }))
}

type Guest = EventWithGuests['guests'][number]

/** An event with its guests by lower-case address. */
interface IndexedEvent {
  readonly event: EventRow
  readonly guests: ReadonlyMap<string, Guest>
}

interface IndexedSet {
  readonly root: IndexedEvent
  /** Exceptions by the key of their occurrence (`keyOf`). */
  readonly exceptions: ReadonlyMap<string, IndexedEvent>
}

interface Change {
  readonly before: IndexedSet | undefined
  readonly after: IndexedSet | undefined
  /** Keys of the occurrences that may have changed. */
  readonly occurrences: readonly string[]
}

type Draft = Omit<GuestMessage, 'exceptions'> & { readonly isWholeSeries: boolean }

const byAddress = (guests: readonly Guest[]) => new Map(guests.map((guest) => [guest.email.toLowerCase(), guest]))
const guestsByAddress = (set: SeriesWithGuests | undefined) =>
  [set?.root, ...(set?.exceptions ?? [])].flatMap((one) => [...byAddress(one?.guests ?? [])])
const highestSequenceOf = ({ root, exceptions }: SeriesWithGuests): number =>
  highestSequence([root, ...exceptions].map(({ event }) => event))

/** Key of the occurrence that an exception replaces. A date and the instant of its midnight in UTC have different keys. */
const keyOf = (event: EventRow): string => `${event.original_date === null ? 'time' : 'date'} ${originalStartOf(event)}`

function indexSet(set: SeriesWithGuests | undefined): IndexedSet | undefined {
  const indexOf = ({ event, guests }: EventWithGuests): IndexedEvent => ({ event, guests: byAddress(guests) })
  return set && { root: indexOf(set.root), exceptions: new Map(set.exceptions.map((one) => [keyOf(one.event), indexOf(one)])) }
}

/** Keys of occurrences whose exception or guest list is not the same object as before. */
function changedOccurrences(before: SeriesWithGuests | undefined, after: SeriesWithGuests | undefined): string[] {
  const [oldByKey, newByKey] = [before, after].map((set) => new Map(set?.exceptions.map((one) => [keyOf(one.event), one])))
  const keys = new Set([...(oldByKey?.keys() ?? []), ...(newByKey?.keys() ?? [])])
  return [...keys].filter(
    (key) => oldByKey?.get(key)?.event !== newByKey?.get(key)?.event || oldByKey?.get(key)?.guests !== newByKey?.get(key)?.guests,
  )
}

function messagesTo(change: Change, email: string): Draft[] {
  const { before, after } = change
  const [wasGuest, isGuest] = [isRootGuest(before, email), isRootGuest(after, email)]
  if (isGuest) return seriesMessages(change, email, wasGuest)
  return wasGuest
    ? [cancelAll(change, email), ...occurrenceMessages({ ...change, before: undefined }, email)]
    : occurrenceMessages(change, email)
}

/** Whether the address is a guest of the series or single event, and it takes place. */
const isRootGuest = (set: IndexedSet | undefined, email: string): boolean => set !== undefined && isInvitedTo(set.root, email)
const isInvitedTo = ({ event, guests }: IndexedEvent, email: string): boolean => takesPlace(event) && guests.has(email)

function seriesMessages(change: Change, email: string, wasGuest: boolean): Draft[] {
  const { before, after } = change as Change & { readonly after: IndexedSet }
  const isChanged = !wasGuest || !before || concernsGuests(before.root.event, after.root.event)
  const changed = isChanged ? [] : change.occurrences.filter((key) => isRelevant(change, key, email))
  if (!isChanged && changed.length < 2) return changed.flatMap((key) => occurrenceMessage(change, key, email))
  const absent = [...after.exceptions.values()].filter((one) => !isInvitedTo(one, email)).map(({ event }) => event.id)
  const reason = before?.root.guests.has(email) ? 'changed' : 'invited'
  const guest = after.root.guests.get(email) as Guest
  return [{ method: 'REQUEST', event: after.root.event, isWholeSeries: true, absent, guest, reason }]
}

/** Messages to a guest of single occurrences. */
function occurrenceMessages(change: Change, email: string): Draft[] {
  const { before, after, occurrences } = change
  const count = (set: IndexedSet | undefined) => [...(set?.exceptions.values() ?? [])].filter((one) => isInvitedTo(one, email)).length
  if (count(before) > 1 && count(after) === 0) return [cancelAll(change, email)]
  return occurrences.filter((key) => isRelevant(change, key, email)).flatMap((key) => occurrenceMessage(change, key, email))
}

/** Whether an occurrence was added, removed or relevantly changed for a guest. */
function isRelevant({ before, after }: Change, key: string, email: string): boolean {
  const [previous, current] = [occurrenceIn(before, after, key), occurrenceIn(after, before, key)]
  const wasInvited = previous !== undefined && isInvitedTo(previous, email)
  const isInvited = current !== undefined && isInvitedTo(current, email)
  return wasInvited && isInvited ? concernsGuests(previous.event, current.event) : wasInvited !== isInvited
}

function occurrenceMessage({ before, after }: Change, key: string, email: string): Draft[] {
  const [previous, current] = [occurrenceIn(before, after, key), occurrenceIn(after, before, key)]
  if (current && isInvitedTo(current, email)) {
    const reason = previous?.guests.has(email) ? 'changed' : 'invited'
    return [
      { method: 'REQUEST', event: current.event, isWholeSeries: false, absent: [], guest: current.guests.get(email) as Guest, reason },
    ]
  }
  const guest = after?.exceptions.get(key)?.guests.get(email) ?? previous?.guests.get(email)
  const event = after?.exceptions.get(key)?.event ?? previous?.event
  return guest && event ? [cancellation(event, guest)] : []
}

/** The occurrence of a key in one state: its exception, or else the series' own values if the other state has an exception there. */
function occurrenceIn(set: IndexedSet | undefined, other: IndexedSet | undefined, key: string): IndexedEvent | undefined {
  const own = set?.exceptions.get(key)
  const original = other?.exceptions.get(key) && originalStartOf(other.exceptions.get(key)?.event as EventRow)
  if (own || !set || set.root.event.recurrence === null || original === undefined) return own
  return { event: newExceptionRow(set.root.event, original, new Date(set.root.event.updated_at)), guests: set.root.guests }
}

/** One cancellation of all events of the UID that a guest has. */
function cancelAll({ before, after }: Change, email: string): Draft {
  const known = [after?.root, before?.root, ...(before?.exceptions.values() ?? [])]
  const guest = known.flatMap((one) => one?.guests.get(email) ?? [])[0] as Guest
  return cancellation((after ?? before)?.root.event as EventRow, guest)
}

const cancellation = (event: EventRow, guest: Guest): Draft => ({
  method: 'CANCEL',
  event,
  isWholeSeries: false,
  absent: [],
  guest,
  reason: 'cancelled',
})

/** Whether guests are informed of a change: of time, repeats, cancellation, title, location or description. */
const concernsGuests = (before: EventRow, after: EventRow): boolean =>
  isSignificant(before, after) || (['title', 'location', 'description'] as const).some((key) => before[key] !== after[key])
