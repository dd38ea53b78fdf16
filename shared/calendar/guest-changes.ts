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
 */
export function guestChanges(before: InvitedSet | undefined, after: InvitedSet | undefined, actorId: string | null): Message[] {
  const known = after ?? before
  if (!known || known.root.event.organizer !== null) return []
  return guestsOf(before, after)
    .filter(({ user_id }) => user_id === null || user_id !== actorId)
    .flatMap(({ email }) => {
      const change = { before, after, email: email.toLowerCase() }
      const [had, has] = [masterOf(before, change.email), masterOf(after, change.email)]
      if (has) return ofSeries(change, had !== undefined)
      if (had) return [cancelAll(change), ...ofOccurrences({ ...change, before: undefined })]
      return ofOccurrences(change)
    })
}

interface Change {
  readonly before: InvitedSet | undefined
  readonly after: InvitedSet | undefined
  readonly email: string
}

type Guest = Invited['guests'][number]

const guestIn = ({ guests }: Invited, email: string): Guest | undefined => guests.find((guest) => guest.email.toLowerCase() === email)

function guestsOf(...sets: readonly (InvitedSet | undefined)[]): Guest[] {
  const guests = sets.flatMap((set) => (set ? [set.root, ...set.exceptions] : [])).flatMap((invited) => invited.guests)
  return [...new Map(guests.map((guest) => [guest.email.toLowerCase(), guest])).values()]
}

/** The guest of a series, or of a single event, that takes place. */
const masterOf = (set: InvitedSet | undefined, email: string): Guest | undefined =>
  set && takesPlace(set.root.event) ? guestIn(set.root, email) : undefined

function ofSeries(change: Change, isKnown: boolean): Message[] {
  const { before, after, email } = change as Change & { readonly after: InvitedSet }
  const isChanged = !isKnown || concernsGuests((before as InvitedSet).root.event, after.root.event)
  const changed = isChanged ? [] : changedOccurrences(change)
  if (!isChanged && changed.length < 2) return changed.flatMap((original) => ofOccurrence(change, original))
  const guest = guestIn(after.root, email) as Guest
  const absent = after.exceptions.filter((one) => !isThere(one, email)).map(({ event }) => event.id)
  const news = before && guestIn(before.root, email) ? ('changed' as const) : ('invited' as const)
  return [{ method: 'REQUEST', event: after.root.event, exceptions: after.exceptions.map(({ event }) => event), absent, guest, news }]
}

/** Messages of occurrences to a guest who is not one of the series. */
function ofOccurrences(change: Change): Message[] {
  const { before, after, email } = change
  const has = (set: InvitedSet | undefined) => set?.exceptions.filter((one) => isThere(one, email)) ?? []
  if (has(before).length > 1 && has(after).length === 0) return [cancelAll(change)]
  return changedOccurrences(change).flatMap((original) => ofOccurrence(change, original))
}

function ofOccurrence(change: Change, original: number): Message[] {
  const [was, is] = [occurrenceIn(change.before, original), occurrenceIn(change.after, original)]
  const guest = is && isThere(is, change.email) && guestIn(is, change.email)
  if (guest) {
    const news = was && guestIn(was, change.email) ? 'changed' : 'invited'
    return [{ method: 'REQUEST', event: is.event, exceptions: [], absent: [], guest, news }]
  }
  const told = was && guestIn(was, change.email)
  if (!told) return []
  const event = is?.event ?? { ...was.event, sequence: lastOf(change) + 1 }
  return [cancellation(event, (is && guestIn(is, change.email)) ?? told)]
}

/** The occurrences that are there, or not there, or another way than before for a guest, by when their series has them. */
function changedOccurrences({ before, after, email }: Change): number[] {
  const originals = new Set([before, after].flatMap((set) => set?.exceptions.flatMap(({ event }) => originalOf(event) ?? []) ?? []))
  return [...originals].filter((original) => {
    const [was, is] = [occurrenceIn(before, original), occurrenceIn(after, original)]
    const [had, has] = [was && isThere(was, email), is && isThere(is, email)]
    return had && has && was && is ? concernsGuests(was.event, is.event) : Boolean(had) !== Boolean(has)
  })
}

/** An occurrence of a series: its own row, else one as the series has it. */
function occurrenceIn(set: InvitedSet | undefined, original: number): Invited | undefined {
  const own = set?.exceptions.find(({ event }) => originalOf(event) === original)
  if (own || !set || set.root.event.recurrence === null) return own
  return { event: occurrenceRow(set.root.event, original, new Date(set.root.event.updated_at)), guests: set.root.guests }
}

const isThere = (invited: Invited, email: string): boolean => takesPlace(invited.event) && guestIn(invited, email) !== undefined

/** One cancellation of all that a guest has of a UID. */
function cancelAll({ before, after, email }: Change): Message {
  const was = before as InvitedSet
  const guest = (after && guestIn(after.root, email)) ?? (guestsOf(was).find((one) => one.email.toLowerCase() === email) as Guest)
  const sequence = after ? Math.max(lastOf({ before: undefined, after }), after.root.event.sequence) : lastOf({ before, after }) + 1
  return cancellation({ ...(after ?? was).root.event, sequence }, guest)
}

const lastOf = ({ before, after }: Pick<Change, 'before' | 'after'>): number =>
  lastSequence([before, after].flatMap((set) => (set ? [set.root.event, ...set.exceptions.map(({ event }) => event)] : [])))

const cancellation = (event: EventRow, guest: Guest): Message => ({
  ...{ method: 'CANCEL', event, exceptions: [], absent: [], guest, news: 'cancelled' },
})

/** Whether guests must know of a change: of the time, the repeats, the title, the place, the description, or whether it takes place. */
const concernsGuests = (before: EventRow, after: EventRow): boolean =>
  isSignificant(before, after) || (['title', 'location', 'description'] as const).some((key) => before[key] !== after[key])
