import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarEventSource, minutesOfEventName } from '#shared/features/calendar/announce.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, listCalendarIds } from '#shared/features/calendar/calendars/store.ts'
import { takesPlace } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { calendarDue } from '#shared/features/calendar/reminders/due.ts'
import { visitOccurrences } from '#shared/features/calendar/series/occurrences.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { setDueNoLater } from '#shared/platform/due/due-times.ts'
import { findListenedEvents } from '#shared/platform/events/listen.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** The time between two checks of a calendar of which nothing within reach is due, in milliseconds. */
export const betweenChecksMs = 6 * dayMs

/**
 * How far ahead a check looks, in milliseconds. Reminders fire up to seven days before a start, flows as many minutes as they listen for. What
 * is farther ahead than that and the time between two checks is found by the next one; a day more is for clock changes.
 */
export const reachOf = (listened: readonly number[]): number =>
  Math.max(7 * dayMs, ...listened.map((minutes) => minutes * minuteMs)) + betweenChecksMs + dayMs

type CalendarToCheck = Pick<Calendar, 'id' | 'key' | 'timezone' | 'settings'>

/** Minutes before a start at which flows listen to a calendar. */
export async function listenedMinutes({ db, workspace }: Scope, { key }: Pick<Calendar, 'key'>): Promise<number[]> {
  const listened = await findListenedEvents(db, workspace.id, calendarEventSource)
  const minutes = listened.flatMap(({ objectType, event }) =>
    objectType === '' || objectType === key ? (minutesOfEventName(event) ?? []) : [],
  )
  return [...new Set(minutes)]
}

/** Minutes before its start at which an event reminds its guests: its own setting, else that of its calendar. */
export const reminderMinutesOf = (
  { reminders }: Pick<EventRow, 'reminders'>,
  { settings }: Pick<Calendar, 'settings'>,
): readonly number[] => reminders ?? settings.default_reminders ?? []

/**
 * Moves the calendar's next check forward so that the reminders of these events fire in time. A calendar has one next check, which
 * `fireReminders` runs. Reminders beyond its reach are found by a later check.
 */
export async function scheduleReminders(scope: Scope, calendar: CalendarToCheck, events: readonly EventRow[]): Promise<void> {
  const now = scope.now().getTime()
  const starting = await listenedMinutes(scope, calendar)
  const budget = transactionBudget(scope)
  const times: number[] = []
  for (const event of events) times.push(...(await nextCheckTimes(calendar, event, starting, now, budget)))
  if (times.length > 0) await scheduleReminderCheck(scope, calendar.id, Math.min(...times))
}

/** Schedules the calendar's check at this time, or leaves an earlier one. */
export const scheduleReminderCheck = (scope: Scope, calendarId: string, ms: number): Promise<void> =>
  setDueNoLater(scope.db, calendarDue, scope.workspace.id, [{ subject: calendarId, at: new Date(ms) }])

/** Schedules a check now for the calendar of a key, or for every calendar if the key is empty: a new flow listens for starts. */
export async function scheduleReminderChecks(db: Executor, workspaceId: string, key: string, now: Date): Promise<void> {
  const calendars = await listCalendarIds(db, workspaceId, key)
  await setDueNoLater(
    db,
    calendarDue,
    workspaceId,
    calendars.map((subject) => ({ subject, at: now })),
  )
}

/** The time of an event's next reminder, or of the check that finds a start beyond the reach. Empty or one time, in epoch milliseconds. */
async function nextCheckTimes(
  calendar: CalendarToCheck,
  event: EventRow,
  listened: readonly number[],
  now: number,
  budget: ComputeBudget,
): Promise<number[]> {
  const minutes = [...reminderMinutesOf(event, calendar), ...listened]
  if (minutes.length === 0 || !takesPlace(event)) return []
  let next = Number.POSITIVE_INFINITY
  const reachMs = reachOf(listened)
  const farthest = Math.max(...minutes) * minuteMs
  await visitOccurrences(
    [event],
    { from: now, to: now + 400 * dayMs },
    () => calendar.timezone,
    budget,
    ({ from }) => {
      const isFar = from >= now + reachMs
      for (const ahead of minutes) if (!isFar && from - ahead * minuteMs > now) next = Math.min(next, from - ahead * minuteMs)
      if (isFar && !Number.isFinite(next)) next = Math.max(now, from - reachMs + dayMs)
      // No later occurrence has an earlier reminder.
      return !isFar && next > from - farthest
    },
  )
  return Number.isFinite(next) ? [next] : []
}
