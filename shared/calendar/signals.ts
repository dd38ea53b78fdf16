import { transactionBudget } from '#shared/calendar/budget.ts'
import { type Calendar, listCalendarIds } from '#shared/calendar/calendars-store.ts'
import { calendarDue } from '#shared/calendar/due.ts'
import type { EventRow } from '#shared/calendar/event.ts'
import { visitOccurrences } from '#shared/calendar/occurrences.ts'
import { dayMs, minuteMs } from '#shared/calendar/time.ts'
import { calendarSource, minutesOfWord } from '#shared/calendar/trigger.ts'
import type { Executor } from '#shared/db/database.ts'
import { setDueBy } from '#shared/due/due.ts'
import { listenedTo } from '#shared/events/listen.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The most that a reminder or a trigger comes before a start: seven days, and what a clock change adds. */
export const reachMs = 8 * dayMs

type Ringing = Pick<Calendar, 'id' | 'key' | 'timezone' | 'settings'>

/** Minutes ahead of a start at which something listens to a calendar: what flows wait for. */
export async function startingMinutes({ db, workspace }: Scope, { key }: Pick<Calendar, 'key'>): Promise<number[]> {
  const heard = await listenedTo(db, workspace.id, calendarSource)
  const minutes = heard.flatMap(({ objectType, event }) => (objectType === '' || objectType === key ? (minutesOfWord(event) ?? []) : []))
  return [...new Set(minutes)]
}

/** Minutes before its start at which an event's guests are reminded: its own, else those of its calendar. */
export const remindersOf = ({ reminders }: Pick<EventRow, 'reminders'>, { settings }: Pick<Calendar, 'settings'>): readonly number[] =>
  reminders ?? settings.default_reminders ?? []

/**
 * Sees to it that the calendar looks in time at what these events announce. A calendar has one time at which it does so
 * (shared/calendar/ring.ts), and it is brought forward; what lies further off than it reaches is found when it looks the next time.
 */
export async function noteSignals(scope: Scope, calendar: Ringing, events: readonly EventRow[]): Promise<void> {
  const now = scope.now().getTime()
  const starting = await startingMinutes(scope, calendar)
  const budget = transactionBudget(scope)
  const times: number[] = []
  for (const event of events)
    times.push(...(await nextSignal(calendar, event, [...remindersOf(event, calendar), ...starting], now, budget)))
  if (times.length > 0) await lookAt(scope, calendar.id, Math.min(...times))
}

/** Lets a calendar look at what lies ahead of it, at this time at the latest. */
export const lookAt = (scope: Scope, calendarId: string, ms: number): Promise<void> =>
  setDueBy(scope.db, calendarDue, scope.workspace.id, [{ subject: calendarId, at: new Date(ms) }])

/**
 * Lets every calendar of a key, or every one for the empty text, look at what lies ahead now: somebody has come to listen for what is so many
 * minutes off.
 */
export async function lookAtAll(db: Executor, workspaceId: string, key: string, now: Date): Promise<void> {
  const calendars = await listCalendarIds(db, workspaceId, key)
  await setDueBy(
    db,
    calendarDue,
    workspaceId,
    calendars.map((subject) => ({ subject, at: now })),
  )
}

/** When an event is announced next, by so many minutes before each start; what is further off counts from the edge of the reach. */
async function nextSignal(
  calendar: Ringing,
  event: EventRow,
  minutes: readonly number[],
  now: number,
  budget: ComputeBudget,
): Promise<number[]> {
  if (minutes.length === 0 || event.is_removed || event.status === 'cancelled') return []
  let next = Number.POSITIVE_INFINITY
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
      // No later occurrence is announced before that.
      return !isFar && next > from - farthest
    },
  )
  return Number.isFinite(next) ? [next] : []
}
