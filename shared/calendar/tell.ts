import type { Attendee, EventRow } from '#shared/calendar/event.ts'
import type { Message } from '#shared/calendar/hear.ts'
import { type guestMail, mailGuests } from '#shared/calendar/jobs.ts'
import type { TypeOf } from '#shared/kernel/schema.ts'
import type { Scope } from '#shared/scope/scope.ts'

type Mailed = TypeOf<typeof guestMail>

/** Guests whose mails one job makes. */
const guestsPerJob = 50

/** Lets a worker mail what guests must hear, once the change is committed. `exceptions` are those of a series that is told of. */
export async function tell(
  scope: Scope,
  messages: readonly Message[],
  guests: readonly Pick<Attendee, 'id' | 'email' | 'name'>[],
  { exceptions = [], isNew = false, isBooked = false }: { exceptions?: readonly EventRow[]; isNew?: boolean; isBooked?: boolean } = {},
): Promise<void> {
  const byId = new Map(guests.map(({ id, email, name }) => [id, { id, email, name }]))
  for (const ofKind of Map.groupBy(messages, ({ method, event }) => `${method} ${event.id}`).values()) {
    const [first] = ofKind
    if (!first) continue
    const told = ofKind.flatMap(({ guestId }) => byId.get(guestId) ?? [])
    const { method, event } = first
    const news: Mailed['news'] = method === 'CANCEL' ? 'cancelled' : isBooked ? 'booked' : isNew ? 'invited' : 'changed'
    for (let from = 0; from < told.length; from += guestsPerJob) {
      const payload = { method, event, exceptions: [...exceptions], guests: told.slice(from, from + guestsPerJob), news }
      // The platform does it: whoever made the change may have left by then. A mail ends every chain of automations.
      const cause = { ...scope.cause, actorId: null, actorType: 'system' as const, depth: 0 }
      await scope.queue.enqueue(scope.db, mailGuests, { workspaceId: scope.workspace.id, cause }, payload)
    }
  }
}
