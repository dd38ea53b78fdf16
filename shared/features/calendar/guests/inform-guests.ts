import type { Scope } from '#shared/core/scope/scope.ts'
import type { GuestMessage } from '#shared/features/calendar/guests/guest-messages.ts'
import { type guestMailPayload, mailGuestsJob } from '#shared/features/calendar/jobs.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'

type MailPayload = TypeOf<typeof guestMailPayload>

/** Upper bound of guests per mail job. */
const guestsPerJob = 50

/** Enqueues jobs that mail messages to guests after the change is committed. With `isBooked`, the mails confirm a booking. */
export async function informGuests(scope: Scope, messages: readonly GuestMessage[], { isBooked = false } = {}): Promise<void> {
  const at = scope.now().toISOString()
  // The job runs as the platform, since the author may have left by then. Depth starts at 0, since a mail starts no further automation.
  const cause = { ...scope.cause, actorId: null, actorType: 'system' as const, depth: 0 }
  for (const group of Map.groupBy(messages, ({ method, reason, event }) => `${method} ${reason} ${event.id}`).values()) {
    const [first] = group
    if (!first) continue
    const { method, event, exceptions } = first
    const reason: MailPayload['reason'] = isBooked ? 'booked' : first.reason
    const guests = group.map(({ guest: { id, email, name }, absent }) => ({
      id,
      email,
      name,
      ...(absent.length > 0 ? { absent: [...absent] } : {}),
    }))
    for (let from = 0; from < guests.length; from += guestsPerJob) {
      const payload = { method, event, exceptions: [...exceptions], guests: guests.slice(from, from + guestsPerJob), reason, at }
      await scope.jobQueue.enqueue(scope.db, mailGuestsJob, { workspaceId: scope.workspace.id, cause }, payload)
    }
  }
}
