import { busySpan, type EventTime } from '#shared/features/calendar/event-time.ts'
import { type EventTimeColumns, eventTimeOf, originalStartOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow, ListedEvent } from '#shared/features/calendar/events/store.ts'
import { type Series, startsIn } from '#shared/features/calendar/series/expand.ts'
import type { TakeSteps } from '#shared/features/calendar/series/rule-days.ts'
import { dateMs, type TimeWindow } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { mergeInOrder } from '#shared/platform/kernel/values/merge-in-order.ts'

/** Columns of an event that are needed to compute its occurrences. */
type ExpandableEvent = EventTimeColumns & Pick<EventRow, 'id' | 'series_id' | 'is_removed'>

/** One occurrence of an event. */
export interface EventOccurrence<Event extends ExpandableEvent = EventRow> {
  readonly event: Event
  readonly when: EventTime
  /** Instants of start and end; those of an all-day event depend on the requested zone. */
  readonly from: number
  readonly to: number
}

/** A window of instants. A window requested by days also has `days`, by which all-day events are selected. */
export interface ListWindow extends TimeWindow {
  readonly days?: TimeWindow
}

/** The window in days if both texts are dates. */
export const dayWindowOf = (from: string, to: string): Pick<ListWindow, 'days'> =>
  from.length === 10 && to.length === 10 ? { days: { from: dateMs(from), to: dateMs(to) + dayMs } } : {}

/** Steps per visited occurrence, in addition to the steps of its rule. */
const stepsPerOccurrence = 2

/**
 * Visits the occurrences of events in a window in order, until `visit` returns false. Series are expanded, and an exception replaces its
 * occurrence. All series are merged lazily and share one budget. The events must include every exception of the window
 * (`listEventsInWindow`). `zoneOf` gives the zone whose midnights begin and end an all-day event. Throws when the budget is exceeded.
 */
export async function visitOccurrences<Event extends ExpandableEvent = ListedEvent>(
  events: readonly Event[],
  window: ListWindow,
  zoneOf: (event: Event) => string,
  budget: ComputeBudget,
  visit: (occurrence: EventOccurrence<Event>) => boolean,
): Promise<void> {
  const replaced = replacedStarts(events)
  const take = (steps: number) => budget.takeSteps(steps)
  const sources = function* () {
    for (const event of events) if (!event.is_removed) yield occurrencesOf(event, window, replaced.get(event.id), zoneOf(event), take)
  }
  const inOrder = (a: EventOccurrence<Event>, b: EventOccurrence<Event>) =>
    a.from - b.from || a.to - b.to || (a.event.id < b.event.id ? -1 : 1)
  for (const occurrence of mergeInOrder(sources(), inOrder)) {
    if (budget.isPauseDue()) await budget.pause()
    if (occurrence === undefined) continue
    budget.takeSteps(stepsPerOccurrence)
    if (!visit(occurrence)) return
  }
}

/** The first `atMost` occurrences of `visitOccurrences`, as a list. */
export async function listOccurrencesIn<Event extends ExpandableEvent = ListedEvent>(
  events: readonly Event[],
  window: ListWindow,
  zoneOf: (event: Event) => string,
  budget: ComputeBudget,
  atMost = Number.POSITIVE_INFINITY,
): Promise<EventOccurrence<Event>[]> {
  const occurrences: EventOccurrence<Event>[] = []
  await visitOccurrences(events, window, zoneOf, budget, (one) => occurrences.push(one) < atMost)
  return occurrences
}

function replacedStarts(events: readonly ExpandableEvent[]): Map<string, Set<number>> {
  const replaced = new Map<string, Set<number>>()
  for (const event of events) {
    const original = originalStartOf(event)
    if (event.series_id === null || original === undefined) continue
    const starts = replaced.get(event.series_id) ?? new Set()
    replaced.set(event.series_id, starts.add(original))
  }
  return replaced
}

function occurrencesOf<Event extends ExpandableEvent>(
  event: Event,
  window: ListWindow,
  replaced: ReadonlySet<number> | undefined,
  zone: string,
  take: TakeSteps,
): Iterator<EventOccurrence<Event> | undefined> {
  take(stepsPerOccurrence)
  const series = seriesOf(event)
  return series
    ? occurrencesOfSeries(event, series, window, replaced, zone, take)
    : inWindow(event, eventTimeOf(event), window, zone).values()
}

function* occurrencesOfSeries<Event extends ExpandableEvent>(
  event: Event,
  series: Series,
  window: ListWindow,
  replaced: ReadonlySet<number> | undefined,
  zone: string,
  take: TakeSteps,
): Generator<EventOccurrence<Event> | undefined> {
  const { allDay } = series
  const length = series.end - series.start
  // A date begins at a different instant in each zone, up to a day apart from UTC.
  const margin = allDay && !window.days ? dayMs : 0
  const reach = (allDay && window.days) || window
  for (const start of startsIn(series, reach.from - length - margin, reach.to + margin, take)) {
    if (start === undefined) yield undefined
    else if (!replaced?.has(start)) {
      const [one] = inWindow(event, { allDay, start, end: start + length, zone: series.zone }, window, zone)
      if (one) yield one
    }
  }
}

/** The occurrence if it overlaps the window, as a list of at most one. An event without length counts from `from` until before `to`. */
function inWindow<Event extends ExpandableEvent>(
  event: Event,
  when: EventTime,
  window: ListWindow,
  zone: string,
): EventOccurrence<Event>[] {
  const span = busySpan(when, zone)
  const [start, end, reach] = when.allDay && window.days ? [when.start, when.end, window.days] : [span.start, span.end, window]
  const isIn = start < reach.to && (end > reach.from || (end === start && start >= reach.from))
  return isIn ? [{ event, when, from: span.start, to: span.end }] : []
}
