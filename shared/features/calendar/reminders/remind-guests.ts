import { notify } from '#shared/core/notifications/notify.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf } from '#shared/features/calendar/access.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import type { Attendee } from '#shared/features/calendar/events/event.ts'
import type { EventWithAnswer } from '#shared/features/calendar/events/store.ts'
import { takeMailQuota } from '#shared/features/calendar/guests/mail-quota.ts'
import { stableId } from '#shared/features/calendar/reminders/stable-id.ts'
import type { EventOccurrence } from '#shared/features/calendar/series/occurrences.ts'
import { eventTimeInWords } from '#shared/features/calendar/time-in-words.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'

/**
 * Reminds the host and all guests who have not declined: members by a notification, other guests by mail, each at most once (decisions,
 * Calendar). The host is the owner of the calendar, on a team calendar the creator of the event while that person still sees it.
 */
export async function remindGuests(
  scope: Scope,
  calendar: Calendar,
  happens: EventOccurrence<EventWithAnswer>,
  guests: readonly Attendee[],
  minutes: number,
): Promise<void> {
  const { event, from } = happens
  const attending = guests.filter(({ status }) => status !== 'declined')
  const host = await hostOf(scope, calendar, event)
  const members = [...new Set([...attending.flatMap(({ user_id }) => user_id ?? []), ...(host === undefined ? [] : [host])])]
  const key = `reminder ${event.id} ${from} ${minutes}`
  const title = `${event.title}: ${eventTimeInWords(happens.when)}`
  await notify(scope, members, [{ title, record: linkOf(event), event: 'calendar.reminder', key }])
  // Guests of an imported event are reminded by its own organizer.
  if (event.organizer === null)
    await mailGuests(
      scope,
      happens,
      attending.filter(({ user_id }) => user_id === null),
      key,
    )
}

const linkOf = ({ record_type, record_id }: EventWithAnswer) =>
  record_type !== null && record_id !== null ? { type: record_type, id: record_id } : null

async function hostOf(scope: Scope, calendar: Calendar, event: EventWithAnswer): Promise<string | undefined> {
  if (calendar.owner_id !== null) return calendar.owner_id
  const creator = event.created_by === null ? undefined : await loadActor(scope.cache, scope.db, scope.workspace.id, event.created_by)
  if (creator?.type !== 'user' || creator.id === null) return undefined
  return eventAccessOf(event, { access: calendarAccessOf(calendar, creator), isGuest: false }) === 'details' ? creator.id : undefined
}

async function mailGuests(
  scope: Scope,
  { event, when, from }: EventOccurrence<EventWithAnswer>,
  guests: readonly Attendee[],
  key: string,
): Promise<void> {
  if (guests.length === 0) return
  const allowed = await takeMailQuota(
    scope,
    guests.map(({ email }) => email),
    'calendar',
  )
  for (const guest of guests.filter((_, index) => allowed[index])) {
    const locationLine = event.location === '' ? '' : `  ${event.location}\n`
    await queueMail(scope, {
      id: stableId(`${key} ${guest.id}`, from),
      workspaceId: scope.workspace.id,
      kind: 'calendar',
      to: guest.email,
      subject: `Reminder: ${event.title}`,
      text: `This event is coming up.\n\n  ${event.title}\n  ${eventTimeInWords(when)}\n${locationLine}`,
    })
  }
}
