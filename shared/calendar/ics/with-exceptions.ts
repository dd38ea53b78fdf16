import { type Attendee, type EventRow, originalOf, takesPlace } from '#shared/calendar/event.ts'
import type { WrittenOut } from '#shared/calendar/ics/write-event.ts'

/** How a file names a guest. */
export type NamedGuest = Pick<Attendee, 'email' | 'name' | 'status'>

/**
 * An event as the file of one guest has it. A series leaves out the occurrences that do not take place for the guest, deleted, called off or
 * without an invitation; its changed ones follow it. `guestIn` is the guest as one of an exception, undefined for none.
 */
export function withExceptions(
  out: WrittenOut,
  exceptions: readonly EventRow[],
  guestIn: (exception: EventRow) => NamedGuest | undefined,
): WrittenOut[] {
  const own = exceptions.map((event) => ({ event, guest: takesPlace(event) ? guestIn(event) : undefined }))
  const removed = own.filter(({ guest }) => guest === undefined).flatMap(({ event }) => originalOf(event) ?? [])
  const kept = own.flatMap(({ event, guest }) => (guest ? [{ ...out, event, series: out.event, attendees: [guest] }] : []))
  return [{ ...out, removed }, ...kept]
}
