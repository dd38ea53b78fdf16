import { isSameTime, isSignificant } from '#shared/calendar/apply-change.ts'
import { type Attendee, type EventRow, takesPlace, whenOf } from '#shared/calendar/event.ts'

/** An event with its guests, before or after a change. */
export interface Invited {
  readonly event: EventRow
  readonly guests: readonly Pick<Attendee, 'id' | 'email' | 'user_id'>[]
}

/** What one guest must hear: that it is asked to come, to this event as it is now, or that it need not come. */
export interface Message {
  readonly method: 'REQUEST' | 'CANCEL'
  readonly event: EventRow
  readonly guestId: string
}

/**
 * What each guest must hear of a change, and nobody else: whoever is new is asked, whoever is taken off hears a cancellation, the others
 * hear of a new time, rule, title, place or description, or that it does not take place. Nobody hears of an event that somebody else
 * organizes, which a file brought, nor does a person hear of what it has done itself.
 */
export function hear(before: Invited | undefined, after: Invited | undefined, actorId: string | null): Message[] {
  const told = after?.event ?? before?.event
  if (!told || told.organizer !== null) return []
  const known = new Map((before && takesPlace(before.event) ? before.guests : []).map((guest) => [guest.id, guest]))
  const asked = new Map((after && takesPlace(after.event) ? after.guests : []).map((guest) => [guest.id, guest]))
  const isOther = ({ user_id }: Pick<Attendee, 'user_id'>) => user_id === null || user_id !== actorId
  const off = [...known.values()].filter(({ id }) => !asked.has(id))
  const isNews = before !== undefined && after !== undefined && concernsGuests(before.event, after.event)
  const on = [...asked.values()].filter(({ id }) => isNews || !known.has(id))
  return [
    ...off.filter(isOther).map(({ id }): Message => ({ method: 'CANCEL', event: cancelled(before, after), guestId: id })),
    ...on.filter(isOther).map(({ id }): Message => ({ method: 'REQUEST', event: told, guestId: id })),
  ]
}

const concernsGuests = (before: EventRow, after: EventRow): boolean =>
  isSignificant(before, after) || (['title', 'location', 'description'] as const).some((key) => before[key] !== after[key])

/** The event that is called off: one that is deleted counts as changed once more. */
function cancelled(before: Invited | undefined, after: Invited | undefined): EventRow {
  if (after) return after.event
  const event = before?.event as EventRow
  return { ...event, sequence: event.sequence + 1 }
}

/** Whether guests have to answer again: a new time asks anew, anything else keeps what they said. */
export const asksAnew = (before: EventRow, after: EventRow): boolean =>
  !isSameTime({ ...whenOf(before), zone: '' }, { ...whenOf(after), zone: '' }) || before.recurrence !== after.recurrence
