import { type EventRow, type EventTimes, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { ListedEvent } from '#shared/calendar/events-store.ts'
import { startsOf } from '#shared/calendar/expand.ts'
import { dateMs, dayMs, type Window } from '#shared/calendar/time.ts'
import { busySpan, type When } from '#shared/calendar/when.ts'

/** An event that may happen. */
type Happening = EventTimes & Pick<EventRow, 'id' | 'series_id' | 'is_removed'>

/** One time that an event happens. */
export interface Happens<Event extends Happening = EventRow> {
  readonly event: Event
  readonly when: When
  /** The instants from which to which it is; of dates by the zone that was asked for. */
  readonly from: number
  readonly to: number
}

/** A window of instants; of dates as well, when it was asked for by days: then all-day events are chosen by theirs. */
export interface ListWindow extends Window {
  readonly days?: Window
}

/** Whether a caller's window is one of days. */
export const daysOf = (from: string, to: string): Window | undefined =>
  from.length === 10 && to.length === 10 ? { from: dateMs(from), to: dateMs(to) + dayMs } : undefined

/**
 * The times in a window at which some events happen, in their order, as many as `atMost`: repeats expanded, an exception instead of the
 * occurrence that it stands for. The events must hold every exception of the window (`listEventsInWindow`). `zoneOf` says by whose midnights
 * an all-day event begins and ends.
 */
export function happensIn<Event extends Happening = ListedEvent>(
  events: readonly Event[],
  window: ListWindow,
  zoneOf: (event: Event) => string,
  atMost: number,
): Happens<Event>[] {
  const replaced = replacedStarts(events)
  const happens = events.flatMap((event) => (event.is_removed ? [] : timesOf(event, window, replaced.get(event.id), zoneOf(event), atMost)))
  return happens.sort((a, b) => a.from - b.from || a.to - b.to || (a.event.id < b.event.id ? -1 : 1)).slice(0, atMost)
}

function replacedStarts(events: readonly Happening[]): Map<string, Set<number>> {
  const replaced = new Map<string, Set<number>>()
  for (const event of events) {
    const original = originalOf(event)
    if (event.series_id === null || original === undefined) continue
    const starts = replaced.get(event.series_id) ?? new Set()
    replaced.set(event.series_id, starts.add(original))
  }
  return replaced
}

function timesOf<Event extends Happening>(
  event: Event,
  window: ListWindow,
  replaced: ReadonlySet<number> | undefined,
  zone: string,
  atMost: number,
): Happens<Event>[] {
  const when = whenOf(event)
  const series = seriesOf(event)
  if (!series) return chosen(event, when, window, zone)
  const length = when.end - when.start
  // Of dates every zone's midnight may be meant.
  const margin = when.allDay && !window.days ? dayMs : 0
  const reach = (when.allDay && window.days) || window
  const starts = startsOf(series, reach.from - length - margin, reach.to + margin, atMost + (replaced?.size ?? 0))
  return starts
    .filter((start) => !replaced?.has(start))
    .flatMap((start) => chosen(event, { ...when, start, end: start + length }, window, zone))
}

/** The time, when it lies in the window: a point does from the first instant until before the last. */
function chosen<Event extends Happening>(event: Event, when: When, window: ListWindow, zone: string): Happens<Event>[] {
  const span = busySpan(when, zone)
  const [start, end, reach] = when.allDay && window.days ? [when.start, when.end, window.days] : [span.start, span.end, window]
  const isIn = start < reach.to && (end > reach.from || (end === start && start >= reach.from))
  return isIn ? [{ event, when, from: span.start, to: span.end }] : []
}
