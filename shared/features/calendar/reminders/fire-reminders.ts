import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceEvent, startingEventName } from '#shared/features/calendar/announce.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { type EventWithAnswer, findEventsInWindow } from '#shared/features/calendar/events/store.ts'
import { findAttendees } from '#shared/features/calendar/guests/store.ts'
import { remindGuests } from '#shared/features/calendar/reminders/remind-guests.ts'
import { listenedMinutes, reminderMinutesOf, reminderReachMs, scheduleReminderCheck } from '#shared/features/calendar/reminders/schedule.ts'
import { stableId } from '#shared/features/calendar/reminders/stable-id.ts'
import { hasLaterEvents, lockFiredUntil, writeFiredUntil } from '#shared/features/calendar/reminders/store.ts'
import { type EventOccurrence, listOccurrencesIn } from '#shared/features/calendar/series/occurrences.ts'
import { dayMs, minuteMs } from '#shared/features/calendar/time.ts'

/** A reminder, or an event for flows, that falls `minutes` before an occurrence. `at` is in epoch milliseconds. */
interface Reminder {
  readonly happens: EventOccurrence<EventWithAnswer>
  readonly kind: 'reminder' | 'starting'
  readonly minutes: number
  readonly at: number
}

/** Occurrences that one check reads. */
const maxOccurrences = 10_000

/**
 * Fires the reminders and flow triggers of a calendar that fell due since its last check, and schedules the next check. One transaction
 * does all of it, so nothing fires twice. Nothing fires that was past when its event was created or moved, or whose occurrence is over.
 */
export function fireReminders(scope: Scope, calendarId: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const calendar = await findCalendar(tx, scope.workspace.id, null, calendarId)
    const until = await lockFiredUntil(tx, scope.workspace.id, calendarId)
    if (!calendar || until === undefined) return
    const now = scope.now().getTime()
    const since = until === null ? now - dayMs : Date.parse(until)
    const reminders = await listReminders(inside, calendar, since, now)
    for (const reminder of reminders.filter(({ at }) => at > since && at <= now)) await fire(inside, calendar, reminder)
    await writeFiredUntil(tx, scope.workspace.id, calendarId, new Date(Math.max(since, now)))
    await scheduleNextCheck(inside, calendar, reminders, now)
  })
}

async function listReminders(scope: Scope, calendar: Calendar, since: number, now: number): Promise<Reminder[]> {
  const starting = await listenedMinutes(scope, calendar)
  const window = { from: Math.min(since, now), to: now + reminderReachMs }
  const found = await findEventsInWindow(
    scope.db,
    scope.workspace.id,
    [calendar.id],
    { from: new Date(window.from), to: new Date(window.to) },
    null,
  )
  const happens = await listOccurrencesIn(found, window, () => calendar.timezone, transactionBudget(scope), maxOccurrences)
  return happens
    .filter(({ event, to, from }) => event.status !== 'cancelled' && Math.max(to, from + minuteMs) > now)
    .flatMap((occurrence) => {
      const reminder = (kind: Reminder['kind'], minutes: number): Reminder => ({
        happens: occurrence,
        kind,
        minutes,
        at: occurrence.from - minutes * minuteMs,
      })
      const reminders = [
        ...reminderMinutesOf(occurrence.event, calendar).map((minutes) => reminder('reminder', minutes)),
        ...starting.map((minutes) => reminder('starting', minutes)),
      ]
      return reminders.filter(({ at }) => at >= Date.parse(occurrence.event.timed_at))
    })
}

async function fire(scope: Scope, calendar: Calendar, { happens, kind, minutes }: Reminder): Promise<void> {
  const { event, when, from } = happens
  const guests = (await findAttendees(scope.db, scope.workspace.id, [event.id])).get(event.id) ?? []
  if (kind === 'reminder') return remindGuests(scope, calendar, happens, guests, minutes)
  const id = stableId(`${startingEventName(minutes)} ${event.id} ${from}`, from - minutes * minuteMs)
  await announceEvent(scope, calendar, startingEventName(minutes), event, guests, { id, when })
}

/** The next check is at the next reminder. With none in reach but later events, it is before these come within reach. */
async function scheduleNextCheck(scope: Scope, calendar: Calendar, reminders: readonly Reminder[], now: number): Promise<void> {
  const next = Math.min(...reminders.filter(({ at }) => at > now).map(({ at }) => at))
  if (Number.isFinite(next)) return scheduleReminderCheck(scope, calendar.id, next)
  if (await hasLaterEvents(scope.db, scope.workspace.id, calendar.id, new Date(now + reminderReachMs)))
    await scheduleReminderCheck(scope, calendar.id, now + reminderReachMs - dayMs)
}
