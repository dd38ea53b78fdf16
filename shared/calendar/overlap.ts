import { type Calendar, lockCalendar } from '#shared/calendar/calendars-store.ts'
import { type EventRow, whenOf } from '#shared/calendar/event.ts'
import { listEventsInWindow } from '#shared/calendar/events-store.ts'
import { type Happens, happensIn } from '#shared/calendar/occurrences.ts'
import { dayMs } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** How far repeats are held apart, in days, and how many of one event's occurrences. */
const [reachDays, mostOccurrences] = [5 * 365, 4_000]

/** Whether an event takes time: one that is cancelled, free, or has no length does not (decisions, Calendar). */
export const isBusy = (event: Pick<EventRow, 'status' | 'is_removed' | 'is_free' | 'start_at' | 'end_at'>): boolean =>
  event.status !== 'cancelled' && !event.is_removed && !event.is_free && (event.start_at === null || event.start_at !== event.end_at)

/**
 * Throws SLOT_TAKEN when events of a calendar that refuses overlaps would overlap another of its events, each other's occurrences too. Locks
 * the calendar, so that of two who write at once one sees the other's event. Repeats are held apart for five years.
 */
export async function requireNoOverlap(scope: Scope, calendar: Calendar, events: readonly EventRow[]): Promise<void> {
  if (!calendar.settings.no_overlap || !events.some(isBusy)) return
  await lockCalendar(scope.db, scope.workspace.id, calendar.id)
  const clash = await findClash(scope, calendar, events)
  if (clash) throw problem('SLOT_TAKEN', `The calendar has another event at ${new Date(clash.from).toISOString()}`)
}

async function findClash(scope: Scope, calendar: Calendar, events: readonly EventRow[]): Promise<Span | undefined> {
  const first = Math.min(...events.map((event) => whenOf(event).start)) - 2 * dayMs
  const window = { from: first, to: first + reachDays * dayMs }
  const zoneOf = () => calendar.timezone
  const own = happensIn(events, window, zoneOf, mostOccurrences).filter(({ event }) => isBusy(event))
  const [start, end] = [own[0], own.reduce((latest, { to }) => Math.max(latest, to), first)]
  if (!start) return undefined
  const near = { from: start.from - dayMs, to: end + dayMs }
  const found = await listEventsInWindow(
    scope.db,
    scope.workspace.id,
    [calendar.id],
    { from: new Date(near.from), to: new Date(near.to) },
    null,
  )
  const ids = new Set(events.map(({ id }) => id))
  const others = happensIn(
    found.filter(({ id, series_id }) => !ids.has(id) && !ids.has(series_id ?? '')),
    near,
    zoneOf,
    20_000,
  ).filter(({ event }) => isBusy(event))
  return overlapping(own, others)
}

type Span = Pick<Happens, 'from' | 'to'>

/** The first of two lists, both in order of time, that overlaps one of the other list, or another one of its own. */
function overlapping(own: readonly Span[], others: readonly Span[]): Span | undefined {
  const all = [...own.map((one) => ({ one, isOwn: true })), ...others.map((one) => ({ one, isOwn: false }))]
  all.sort((a, b) => a.one.from - b.one.from || a.one.to - b.one.to)
  // Of what came before, how long the latest of the own and of the others go on.
  let [ownEnd, otherEnd] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { one, isOwn } of all) {
    if (one.from < ownEnd || (isOwn && one.from < otherEnd)) return one
    if (isOwn) ownEnd = Math.max(ownEnd, one.to)
    else otherEnd = Math.max(otherEnd, one.to)
  }
  return undefined
}
