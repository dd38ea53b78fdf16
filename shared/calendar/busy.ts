import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { type ListedEvent, listAcceptedInWindow, listEventsInWindow } from '#shared/calendar/events-store.ts'
import { visitOccurrences } from '#shared/calendar/occurrences.ts'
import { isBusy } from '#shared/calendar/overlap.ts'
import type { Window } from '#shared/calendar/time.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** A time that is taken. */
export interface Busy {
  readonly start: number
  readonly end: number
}

/** Steps of each separate time that is kept and answered. */
const stepsPerTime = 50

const dates = ({ from, to }: Window) => ({ from: new Date(from), to: new Date(to) })

/** Events of a window that may take time, and by which zone's midnights those of dates do. */
export interface Taking {
  readonly events: readonly ListedEvent[]
  readonly zoneOf: (event: ListedEvent) => string
}

/** The events of some calendars in a window. */
export async function eventsOnCalendars(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  calendars: readonly Calendar[],
  window: Window,
): Promise<Taking> {
  const zones = new Map(calendars.map(({ id, timezone }) => [id, timezone]))
  const events = await listEventsInWindow(db, workspace.id, [...zones.keys()], dates(window), null)
  return { events, zoneOf: ({ calendar_id, timezone }) => zones.get(calendar_id) ?? timezone }
}

/** The events on calendars of others to which a person is invited; `takesGuest` says which of them take the person's time. */
export async function eventsElsewhere({ db, workspace }: Pick<Scope, 'db' | 'workspace'>, userId: string, window: Window): Promise<Taking> {
  const events = await listAcceptedInWindow(db, workspace.id, dates(window), userId)
  return { events, zoneOf: ({ timezone }) => timezone }
}

/** Whether an event takes the time of a guest: one that was accepted or answered tentative. */
export const takesGuest = (event: ListedEvent): boolean =>
  isBusy(event) && (event.my_status === 'accepted' || event.my_status === 'tentative')

/** When some calendars are taken in a window, by calendar, in order and without overlaps. */
export async function busyOnCalendars(
  scope: Pick<Scope, 'db' | 'workspace'>,
  calendars: readonly Calendar[],
  window: Window,
  budget: ComputeBudget,
): Promise<Map<string, Busy[]>> {
  const busy = new Map<string, MutableBusy[]>()
  const { events, zoneOf } = await eventsOnCalendars(scope, calendars, window)
  await visitOccurrences(events, window, zoneOf, budget, ({ event, from, to }) => {
    const times = busy.get(event.calendar_id) ?? []
    if (isBusy(event)) join(times, from, to, budget)
    busy.set(event.calendar_id, times)
    return true
  })
  return busy
}

/** When people are taken by events on calendars that are not their own, by person. */
export async function busyElsewhere(
  scope: Pick<Scope, 'db' | 'workspace'>,
  userIds: readonly string[],
  window: Window,
  budget: ComputeBudget,
): Promise<Map<string, Busy[]>> {
  const busy = new Map<string, Busy[]>()
  for (const userId of userIds) {
    const times: MutableBusy[] = []
    const { events, zoneOf } = await eventsElsewhere(scope, userId, window)
    await visitOccurrences(events, window, zoneOf, budget, ({ event, from, to }) => {
      if (takesGuest(event)) join(times, from, to, budget)
      return true
    })
    busy.set(userId, times)
  }
  return busy
}

interface MutableBusy {
  start: number
  end: number
}

/** Adds a time that begins no earlier than those before. */
function join(times: MutableBusy[], start: number, end: number, budget: ComputeBudget): void {
  const last = times.at(-1)
  if (last && start <= last.end) last.end = Math.max(last.end, end)
  else {
    budget.take(stepsPerTime)
    times.push({ start, end })
  }
}

/** Times that follow or overlap each other as one, within a window. */
export function merged(times: readonly Busy[], { from, to }: Window): Busy[] {
  const inside = times
    .map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end, to) }))
    .filter(({ start, end }) => end > start)
  const joined: { start: number; end: number }[] = []
  for (const { start, end } of inside.sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else joined.push({ start, end })
  }
  return joined
}
