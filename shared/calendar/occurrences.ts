import { type EventRow, type EventTimes, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { ListedEvent } from '#shared/calendar/events-store.ts'
import { type Series, startsIn } from '#shared/calendar/expand.ts'
import type { Take } from '#shared/calendar/rule-days.ts'
import { dateMs, dayMs, type Window } from '#shared/calendar/time.ts'
import { busySpan, type When } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { mergeInOrder } from '#shared/kernel/merge.ts'

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

/** What an occurrence that is looked at costs of a budget, beside the steps of its rule. */
const stepsPerOccurrence = 2

/**
 * Visits the times in a window at which some events happen, in their order, until `visit` returns false: repeats expanded, an exception
 * instead of the occurrence that it stands for. All series are expanded together and no further than is visited; their steps count by one
 * budget. The events must hold every exception of the window (`listEventsInWindow`). `zoneOf` says by whose midnights an all-day event begins
 * and ends. Throws what the budget throws.
 */
export async function visitOccurrences<Event extends Happening = ListedEvent>(
  events: readonly Event[],
  window: ListWindow,
  zoneOf: (event: Event) => string,
  budget: ComputeBudget,
  visit: (happens: Happens<Event>) => boolean,
): Promise<void> {
  const replaced = replacedStarts(events)
  const take = (steps: number) => budget.take(steps)
  const sources = function* () {
    for (const event of events) if (!event.is_removed) yield timesOf(event, window, replaced.get(event.id), zoneOf(event), take)
  }
  const inOrder = (a: Happens<Event>, b: Happens<Event>) => a.from - b.from || a.to - b.to || (a.event.id < b.event.id ? -1 : 1)
  for (const happens of mergeInOrder(sources(), inOrder)) {
    if (budget.isPauseDue()) await budget.pause()
    if (happens === undefined) continue
    budget.take(stepsPerOccurrence)
    if (!visit(happens)) return
  }
}

/** The times of `visitOccurrences`, as many as `atMost`. */
export async function happensIn<Event extends Happening = ListedEvent>(
  events: readonly Event[],
  window: ListWindow,
  zoneOf: (event: Event) => string,
  budget: ComputeBudget,
  atMost = Number.POSITIVE_INFINITY,
): Promise<Happens<Event>[]> {
  const happens: Happens<Event>[] = []
  await visitOccurrences(events, window, zoneOf, budget, (one) => happens.push(one) < atMost)
  return happens
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
  take: Take,
): Iterator<Happens<Event> | undefined> {
  take(stepsPerOccurrence)
  const series = seriesOf(event)
  return series ? timesOfSeries(event, series, window, replaced, zone, take) : chosen(event, whenOf(event), window, zone).values()
}

function* timesOfSeries<Event extends Happening>(
  event: Event,
  series: Series,
  window: ListWindow,
  replaced: ReadonlySet<number> | undefined,
  zone: string,
  take: Take,
): Generator<Happens<Event> | undefined> {
  const { allDay } = series
  const length = series.end - series.start
  // Of dates every zone's midnight may be meant.
  const margin = allDay && !window.days ? dayMs : 0
  const reach = (allDay && window.days) || window
  for (const start of startsIn(series, reach.from - length - margin, reach.to + margin, take)) {
    if (start === undefined) yield undefined
    else if (!replaced?.has(start)) {
      const [one] = chosen(event, { allDay, start, end: start + length, zone: series.zone }, window, zone)
      if (one) yield one
    }
  }
}

/** The time, when it lies in the window: a point does from the first instant until before the last. */
function chosen<Event extends Happening>(event: Event, when: When, window: ListWindow, zone: string): Happens<Event>[] {
  const span = busySpan(when, zone)
  const [start, end, reach] = when.allDay && window.days ? [when.start, when.end, window.days] : [span.start, span.end, window]
  const isIn = start < reach.to && (end > reach.from || (end === start && start >= reach.from))
  return isIn ? [{ event, when, from: span.start, to: span.end }] : []
}
