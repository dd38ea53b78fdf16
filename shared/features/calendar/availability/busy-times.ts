import type { Scope } from '#shared/core/scope/scope.ts'
import { isBusy } from '#shared/features/calendar/availability/overlap.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { type ListedEvent, listAcceptedInWindow, listEventsInWindow } from '#shared/features/calendar/events/store.ts'
import { visitOccurrences } from '#shared/features/calendar/series/occurrences.ts'
import type { TimeWindow } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** A busy time in epoch milliseconds. */
export interface BusyTime {
  readonly start: number
  readonly end: number
}

/** Budget steps for each separate busy time that is kept and returned. */
const stepsPerTime = 50

const toDates = ({ from, to }: TimeWindow) => ({ from: new Date(from), to: new Date(to) })

/** Events of a window that may be busy, and the zone whose midnights bound an all-day event. */
interface EventsWithZones {
  readonly events: readonly ListedEvent[]
  readonly zoneOf: (event: ListedEvent) => string
}

/** The events of some calendars in a window. */
export async function eventsOnCalendars(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  calendars: readonly Calendar[],
  window: TimeWindow,
): Promise<EventsWithZones> {
  const zones = new Map(calendars.map(({ id, timezone }) => [id, timezone]))
  const events = await listEventsInWindow(db, workspace.id, [...zones.keys()], toDates(window), null)
  return { events, zoneOf: ({ calendar_id, timezone }) => zones.get(calendar_id) ?? timezone }
}

/** The events on other people's calendars to which a person is invited; `isGuestBusy` decides which of them count as busy. */
export async function eventsAsGuest(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  userId: string,
  window: TimeWindow,
): Promise<EventsWithZones> {
  const events = await db.query(listAcceptedInWindow({ workspaceId: workspace.id, ...toDates(window), userId }))
  return { events, zoneOf: ({ timezone }) => timezone }
}

/** Whether an event makes its guest busy: the guest accepted or answered tentative. */
export const isGuestBusy = (event: ListedEvent): boolean =>
  isBusy(event) && (event.my_status === 'accepted' || event.my_status === 'tentative')

/** The busy times of calendars in a window, by calendar id, in order and without overlaps. */
export async function busyOnCalendars(
  scope: Pick<Scope, 'db' | 'workspace'>,
  calendars: readonly Calendar[],
  window: TimeWindow,
  budget: ComputeBudget,
): Promise<Map<string, BusyTime[]>> {
  const busy = new Map<string, MutableBusy[]>()
  const { events, zoneOf } = await eventsOnCalendars(scope, calendars, window)
  await visitOccurrences(events, window, zoneOf, budget, ({ event, from, to }) => {
    const times = busy.get(event.calendar_id) ?? []
    if (isBusy(event)) appendTime(times, from, to, budget)
    busy.set(event.calendar_id, times)
    return true
  })
  return busy
}

/** The busy times of people from events on calendars that are not their own, by person id. */
export async function busyAsGuest(
  scope: Pick<Scope, 'db' | 'workspace'>,
  userIds: readonly string[],
  window: TimeWindow,
  budget: ComputeBudget,
): Promise<Map<string, BusyTime[]>> {
  const busy = new Map<string, BusyTime[]>()
  for (const userId of userIds) {
    const times: MutableBusy[] = []
    const { events, zoneOf } = await eventsAsGuest(scope, userId, window)
    await visitOccurrences(events, window, zoneOf, budget, ({ event, from, to }) => {
      if (isGuestBusy(event)) appendTime(times, from, to, budget)
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

/** Appends a time, merged with the last one when they touch. Times arrive in order of their starts. `budget` counts the separate ones. */
function appendTime(times: MutableBusy[], start: number, end: number, budget?: ComputeBudget): void {
  const last = times.at(-1)
  if (last && start <= last.end) last.end = Math.max(last.end, end)
  else {
    budget?.takeSteps(stepsPerTime)
    times.push({ start, end })
  }
}

/** Merges times that touch or overlap, clipped to a window, in order of their starts. */
export function mergeTimes(times: readonly BusyTime[], { from, to }: TimeWindow): BusyTime[] {
  const inside = times
    .map(({ start, end }) => ({ start: Math.max(start, from), end: Math.min(end, to) }))
    .filter(({ start, end }) => end > start)
  const mergedTimes: MutableBusy[] = []
  for (const { start, end } of inside.sort((a, b) => a.start - b.start)) appendTime(mergedTimes, start, end)
  return mergedTimes
}
