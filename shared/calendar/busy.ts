import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { type ListedEvent, listAcceptedInWindow, listEventsInWindow } from '#shared/calendar/events-store.ts'
import { type Happens, happensIn } from '#shared/calendar/occurrences.ts'
import { isBusy } from '#shared/calendar/overlap.ts'
import type { Window } from '#shared/calendar/time.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** A time that is taken. */
export interface Busy {
  readonly start: number
  readonly end: number
}

/** Occurrences that are looked at of one question. */
const mostOccurrences = 20_000

const dates = ({ from, to }: Window) => ({ from: new Date(from), to: new Date(to) })

/** What takes time on some calendars, by calendar; events of `except` do not count. */
export async function busyOnCalendars(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  calendars: readonly Calendar[],
  window: Window,
  except?: string,
): Promise<Map<string, Happens<ListedEvent>[]>> {
  const byId = new Map(calendars.map((calendar) => [calendar.id, calendar]))
  const found = await listEventsInWindow(db, workspace.id, [...byId.keys()], dates(window), null)
  const zoneOf = (event: ListedEvent) => byId.get(event.calendar_id)?.timezone ?? event.timezone
  const happens = happensIn(found, window, zoneOf, mostOccurrences).filter(({ event }) => isBusy(event) && event.id !== except)
  return Map.groupBy(happens, ({ event }) => event.calendar_id)
}

/** What takes the time of people who accepted, or answered tentative, events on calendars that are not their own; by person. */
export async function busyElsewhere(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  userIds: readonly string[],
  window: Window,
): Promise<Map<string, Happens<ListedEvent>[]>> {
  const busy = new Map<string, Happens<ListedEvent>[]>()
  for (const userId of userIds) {
    const found = await listAcceptedInWindow(db, workspace.id, dates(window), userId)
    const happens = happensIn(found, window, ({ timezone }) => timezone, mostOccurrences)
    const comes = ({ event }: Happens<ListedEvent>) => event.my_status === 'accepted' || event.my_status === 'tentative'
    busy.set(
      userId,
      happens.filter((one) => isBusy(one.event) && comes(one)),
    )
  }
  return busy
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

/** The instants that occurrences take. */
export const spansOf = (happens: readonly Pick<Happens, 'from' | 'to'>[]): Busy[] =>
  happens.map(({ from, to }) => ({ start: from, end: to }))
