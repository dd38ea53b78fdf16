import { writeAnswer } from '#shared/calendar/attendees-store.ts'
import { type Answer, takesPlace } from '#shared/calendar/event.ts'
import type { EventView } from '#shared/calendar/event-schemas.ts'
import { lockEventSet } from '#shared/calendar/event-set.ts'
import { eventViewOf } from '#shared/calendar/read-event.ts'
import { problem } from '#shared/kernel/errors.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/**
 * Answers the caller's own invitation; `needs_action` takes an answer back. An event that is called off takes none, as by the link of a
 * mail. FORBIDDEN for somebody who is not among the guests.
 */
export function answerInvitation(scope: Scope, id: string, status: Answer): Promise<EventView> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const set = await lockEventSet(inside, id, 'none')
    const person = scope.actor.personId
    const me = set.guests.find(({ user_id }) => user_id !== null && user_id === person)
    if (!me) throw problem('FORBIDDEN', 'Only guests of an event answer its invitation')
    if (!takesPlace(set.event)) return eventViewOf(set)
    await writeAnswer(tx, scope.workspace.id, me, status)
    const guests = set.guests.map((guest) => (guest.id === me.id ? { ...guest, status } : guest))
    return eventViewOf({ ...set, guests })
  })
}
