import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import { takesPlace } from '#shared/features/calendar/events/event.ts'
import { lockEventSet } from '#shared/features/calendar/events/event-set.ts'
import { eventViewOf } from '#shared/features/calendar/events/read-event.ts'
import type { EventView, GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import { writeAnswer } from '#shared/features/calendar/guests/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Writes the caller's answer to an invitation; `needs_action` removes it. A cancelled event keeps its answers, as on the invitation page.
 * Throws NOT_FOUND, and FORBIDDEN when the caller is not a guest.
 */
export function answerInvitation(scope: Scope, id: string, status: GuestAnswer): Promise<EventView> {
  return scope.db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    const set = await lockEventSet(txScope, id, 'none')
    const personId = scope.actor.personId
    const callerGuest = set.guests.find(({ user_id }) => user_id !== null && user_id === personId)
    if (!callerGuest) throw problem('FORBIDDEN', 'Only guests of the event can answer its invitation')
    if (!takesPlace(set.event) || callerGuest.status === status) return eventViewOf(set)
    await tx.query(writeAnswer({ workspaceId: scope.workspace.id, eventId: callerGuest.event_id, id: callerGuest.id, status }))
    await announceEvent(txScope, set.calendar, 'answered', set.event, set.guests, { guest: { id: callerGuest.id, status } })
    const guests = set.guests.map((guest) => (guest.id === callerGuest.id ? { ...guest, status } : guest))
    return eventViewOf({ ...set, guests })
  })
}
