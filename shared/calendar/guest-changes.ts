import { isSignificant } from '#shared/calendar/apply-change.ts'
import { type Attendee, type EventRow, originalOf, takesPlace } from '#shared/calendar/event.ts'
import { lastSequence, occurrenceRow } from '#shared/calendar/plan-change.ts'

/** An event with its guests. */
export interface Invited {
  readonly event: EventRow
  readonly guests: readonly Pick<Attendee, 'id' | 'email' | 'name' | 'user_id'>[]
}

/** A message to one guest: that it is asked to come to this event, or that it need not come. */
export interface Message {
  readonly method: 'REQUEST' | 'CANCEL'
  readonly event: EventRow
  /** Of a series its exceptions, and the ids of those that do not take place for this guest. */
  readonly exceptions: readonly EventRow[]
  readonly absent: readonly string[]
  readonly guest: Invited['guests'][number]
  readonly news: 'invited' | 'changed' | 'cancelled'
}

/** All events of one UID with their guests: a single event, or a series and its exceptions, deleted ones too. */
export interface InvitedSet {
  readonly root: Invited
  readonly exceptions: readonly Invited[]
}

/**
 * The messages that bring the calendars of guests from one state of a UID to another, `undefined` being none. A guest of the series gets one
 * message of all of it, with its exceptions, when more than one occurrence changes, and a message of the occurrence when one does. A guest of
 * single occurrences gets a message of each. A guest who loses everything gets one cancellation. Nobody is informed of an event that somebody
 * else organizes, nor of a change of their own.
 *
 * All messages carry the highest SEQUENCE of the UID, so that programs see none that falls, whichever events they compare.
 */
export function guestChanges(before: InvitedSet | undefined, after: InvitedSet | undefined, actorId: string | null): Message[] {
  const known = after ?? before
  if (!known || known.root.event.organizer !== null) return []
  const change: Change = { before: indexed(before), after: indexed(after), occurrences: changedOccurrences(before, after) }
  const sequence = after ? lastOf(after) : lastOf(known) + 1
  const numbered = (event: EventRow): EventRow => ({ ...event, sequence })
  const exceptions = after?.exceptions.map(({ event }) => numbered(event)) ?? []
  return [...new Map([before, after].flatMap(addressed))]
    .filter(([, { user_id }]) => user_id === null || user_id !== actorId)
    .flatMap(([email]) => messagesTo(change, email))
    .map(({ isWhole, ...message }) => ({ ...message, event: numbered(message.event), exceptions: isWhole ? exceptions : [] }))
}

type Guest = Invited['guests'][number]

/** An event with its guests by their addresses in small letters. */
interface Indexed {
  readonly event: EventRow
  readonly guests: ReadonlyMap<string, Guest>
}

interface IndexedSet {
  readonly root: Indexed
  /** Exceptions by the occurrences that they stand for. */
  readonly exceptions: ReadonlyMap<string, Indexed>
}

interface Change {
  readonly before: IndexedSet | undefined
  readonly after: IndexedSet | undefined
  /** The occurrences that may be another way than before. */
  readonly occurrences: readonly string[]
}

type Draft = Omit<Message, 'exceptions'> & { readonly isWhole: boolean }

const byAddress = (guests: readonly Guest[]) => new Map(guests.map((guest) => [guest.email.toLowerCase(), guest]))
const addressed = (set: InvitedSet | undefined) =>
  [set?.root, ...(set?.exceptions ?? [])].flatMap((one) => [...byAddress(one?.guests ?? [])])
const lastOf = ({ root, exceptions }: InvitedSet): number => lastSequence([root, ...exceptions].map(({ event }) => event))

/** A name for the occurrence that an event stands for: a date is not the instant of its midnight. */
const keyOf = (event: EventRow): string => `${event.original_date === null ? 'time' : 'date'} ${originalOf(event)}`

function indexed(set: InvitedSet | undefined): IndexedSet | undefined {
  const indexOf = ({ event, guests }: Invited): Indexed => ({ event, guests: byAddress(guests) })
  return set && { root: indexOf(set.root), exceptions: new Map(set.exceptions.map((one) => [keyOf(one.event), indexOf(one)])) }
}

/** Occurrences with an event or guests of their own that are others than before. */
function changedOccurrences(before: InvitedSet | undefined, after: InvitedSet | undefined): string[] {
  const [was, is] = [before, after].map((set) => new Map(set?.exceptions.map((one) => [keyOf(one.event), one])))
  const keys = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])
  return [...keys].filter((key) => was?.get(key)?.event !== is?.get(key)?.event || was?.get(key)?.guests !== is?.get(key)?.guests)
}

function messagesTo(change: Change, email: string): Draft[] {
  const { before, after } = change
  const [had, has] = [isOfSeries(before, email), isOfSeries(after, email)]
  if (has) return ofSeries(change, email, had)
  return had ? [cancelAll(change, email), ...ofOccurrences({ ...change, before: undefined }, email)] : ofOccurrences(change, email)
}

/** Whether somebody is a guest of a series, or of a single event, that takes place. */
const isOfSeries = (set: IndexedSet | undefined, email: string): boolean => set !== undefined && isThere(set.root, email)
const isThere = ({ event, guests }: Indexed, email: string): boolean => takesPlace(event) && guests.has(email)

function ofSeries(change: Change, email: string, isKnown: boolean): Draft[] {
  const { before, after } = change as Change & { readonly after: IndexedSet }
  const isChanged = !isKnown || !before || concernsGuests(before.root.event, after.root.event)
  const changed = isChanged ? [] : change.occurrences.filter((key) => isNews(change, key, email))
  if (!isChanged && changed.length < 2) return changed.flatMap((key) => ofOccurrence(change, key, email))
  const absent = [...after.exceptions.values()].filter((one) => !isThere(one, email)).map(({ event }) => event.id)
  const news = before?.root.guests.has(email) ? 'changed' : 'invited'
  const guest = after.root.guests.get(email) as Guest
  return [{ method: 'REQUEST', event: after.root.event, isWhole: true, absent, guest, news }]
}

/** Messages of occurrences to a guest who is not one of the series. */
function ofOccurrences(change: Change, email: string): Draft[] {
  const { before, after, occurrences } = change
  const count = (set: IndexedSet | undefined) => [...(set?.exceptions.values() ?? [])].filter((one) => isThere(one, email)).length
  if (count(before) > 1 && count(after) === 0) return [cancelAll(change, email)]
  return occurrences.filter((key) => isNews(change, key, email)).flatMap((key) => ofOccurrence(change, key, email))
}

/** Whether an occurrence is there, or not there, or another way than before for a guest. */
function isNews({ before, after }: Change, key: string, email: string): boolean {
  const [was, is] = [occurrenceIn(before, after, key), occurrenceIn(after, before, key)]
  const [had, has] = [was !== undefined && isThere(was, email), is !== undefined && isThere(is, email)]
  return had && has && was && is ? concernsGuests(was.event, is.event) : had !== has
}

function ofOccurrence({ before, after }: Change, key: string, email: string): Draft[] {
  const [was, is] = [occurrenceIn(before, after, key), occurrenceIn(after, before, key)]
  if (is && isThere(is, email)) {
    const news = was?.guests.has(email) ? 'changed' : 'invited'
    return [{ method: 'REQUEST', event: is.event, isWhole: false, absent: [], guest: is.guests.get(email) as Guest, news }]
  }
  const guest = after?.exceptions.get(key)?.guests.get(email) ?? was?.guests.get(email)
  const event = after?.exceptions.get(key)?.event ?? was?.event
  return guest && event ? [cancellation(event, guest)] : []
}

/** An occurrence of a series: its own event, else one as the series has it, which an event of the other state stands for. */
function occurrenceIn(set: IndexedSet | undefined, other: IndexedSet | undefined, key: string): Indexed | undefined {
  const own = set?.exceptions.get(key)
  const original = other?.exceptions.get(key) && originalOf(other.exceptions.get(key)?.event as EventRow)
  if (own || !set || set.root.event.recurrence === null || original === undefined) return own
  return { event: occurrenceRow(set.root.event, original, new Date(set.root.event.updated_at)), guests: set.root.guests }
}

/** One cancellation of all that a guest has of a UID. */
function cancelAll({ before, after }: Change, email: string): Draft {
  const known = [after?.root, before?.root, ...(before?.exceptions.values() ?? [])]
  const guest = known.flatMap((one) => one?.guests.get(email) ?? [])[0] as Guest
  return cancellation((after ?? before)?.root.event as EventRow, guest)
}

const cancellation = (event: EventRow, guest: Guest): Draft => ({
  ...{ method: 'CANCEL', event, isWhole: false, absent: [], guest, news: 'cancelled' },
})

/** Whether guests must know of a change: of the time, the repeats, the title, the place, the description, or whether it takes place. */
const concernsGuests = (before: EventRow, after: EventRow): boolean =>
  isSignificant(before, after) || (['title', 'location', 'description'] as const).some((key) => before[key] !== after[key])
