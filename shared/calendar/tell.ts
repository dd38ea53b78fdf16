import type { Message } from '#shared/calendar/guest-changes.ts'
import { type guestMail, mailGuests } from '#shared/calendar/jobs.ts'
import type { TypeOf } from '#shared/kernel/schema.ts'
import type { Scope } from '#shared/scope/scope.ts'

type Mailed = TypeOf<typeof guestMail>

/** Guests whose mails one job makes. */
const guestsPerJob = 50

/** Files jobs that mail messages to guests once the change is committed. Booked events are confirmed instead of announced. */
export async function tell(scope: Scope, messages: readonly Message[], { isBooked = false } = {}): Promise<void> {
  const at = scope.now().toISOString()
  // The job runs as the platform, since the author of the change may have left by then. A mail starts no further automation.
  const cause = { ...scope.cause, actorId: null, actorType: 'system' as const, depth: 0 }
  for (const alike of Map.groupBy(messages, ({ method, news, event }) => `${method} ${news} ${event.id}`).values()) {
    const [first] = alike
    if (!first) continue
    const { method, event, exceptions } = first
    const news: Mailed['news'] = isBooked ? 'booked' : first.news
    const guests = alike.map(({ guest: { id, email, name }, absent }) => ({
      id,
      email,
      name,
      ...(absent.length > 0 ? { absent: [...absent] } : {}),
    }))
    for (let from = 0; from < guests.length; from += guestsPerJob) {
      const payload = { method, event, exceptions: [...exceptions], guests: guests.slice(from, from + guestsPerJob), news, at }
      await scope.queue.enqueue(scope.db, mailGuests, { workspaceId: scope.workspace.id, cause }, payload)
    }
  }
}
