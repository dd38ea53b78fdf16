import { type Attendee, type EventRow, originalStartOf, takesPlace } from '#shared/features/calendar/events/event.ts'
import type { EventForFile } from '#shared/features/calendar/ics/write-event.ts'

/** How a file names a guest. */
export type NamedGuest = Pick<Attendee, 'email' | 'name' | 'status'>

/**
 * The entries of an event in the file of one guest. A series leaves out the occurrences that do not take place for the guest: deleted,
 * cancelled, or without an invitation. Its changed occurrences follow it. `guestIn` finds the guest in an exception, undefined for none.
 */
export function withExceptions(
  out: EventForFile,
  exceptions: readonly EventRow[],
  guestIn: (exception: EventRow) => NamedGuest | undefined,
): EventForFile[] {
  const withGuests = exceptions.map((event) => ({ event, guest: takesPlace(event) ? guestIn(event) : undefined }))
  const removed = withGuests.filter(({ guest }) => guest === undefined).flatMap(({ event }) => originalStartOf(event) ?? [])
  const kept = withGuests.flatMap(({ event, guest }) => (guest ? [{ ...out, event, series: out.event, attendees: [guest] }] : []))
  return [{ ...out, removed }, ...kept]
}
