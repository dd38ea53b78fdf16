import { type Scope, within } from '#shared/core/scope/scope.ts'
import { queryBudget, transactionBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, calendarVersion, lockCalendar } from '#shared/features/calendar/calendars/store.ts'
import { eventTimeOf, seriesOf, takesPlace } from '#shared/features/calendar/events/event.ts'
import { type EventRow, listEventsInWindow } from '#shared/features/calendar/events/store.ts'
import { type EventOccurrence, visitOccurrences } from '#shared/features/calendar/series/occurrences.ts'
import { firstOf } from '#shared/features/calendar/series/shift.ts'
import { instantText } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { createKeyedLocks } from '#shared/platform/kernel/process/semaphore.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** How far ahead repeating events are checked for overlaps, in days. */
const reachDays = 5 * 365

/** Whether an event counts as busy. Cancelled and free events and events without length do not (docs/contract/calendar.md#busy-events). */
export const isBusy = (event: Pick<EventRow, 'status' | 'is_removed' | 'is_free' | 'start_at' | 'end_at'>): boolean =>
  takesPlace(event) && !event.is_free && (event.start_at === null || event.start_at !== event.end_at)

/** The times of events that were found to overlap nothing, and the calendar's version at that check; undefined before the first check. */
export type OverlapCheck = { readonly calendarId: string; readonly version: number; readonly times: string } | undefined

/** Rolls back a transaction whose events must first be checked outside it. */
class UncheckedEvents extends Error {
  readonly calendar: Calendar
  readonly events: readonly EventRow[]

  constructor(calendar: Calendar, events: readonly EventRow[]) {
    super('events of a calendar without overlaps were not checked yet')
    this.calendar = calendar
    this.events = events
  }
}

/** Serializes the writers of one calendar without overlaps in this process. Waiting writers hold no connection. */
const withCalendarLock = createKeyedLocks()
/** Checks outside the transaction before events are checked inside it. Other processes may write in between. */
const maxAttempts = 3

/**
 * Runs a transaction that may write events of a calendar without overlaps; `work` passes its `checked` on to `requireNoOverlap`. The events
 * are compared with those of the calendar while no transaction is open. The check is repeated only if the calendar has changed since.
 */
export async function runWithOverlapCheck<T>(
  scope: Scope,
  work: (inside: Scope, checked: OverlapCheck | 'inside') => Promise<T>,
): Promise<T> {
  if ('inTransaction' in scope.db) return work(scope, 'inside')
  const run = (checked: OverlapCheck | 'inside') => scope.db.transaction((tx) => work(within(scope, tx), checked))
  try {
    return await run(undefined)
  } catch (error) {
    if (!(error instanceof UncheckedEvents)) throw error
    return withCalendarLock(`${scope.workspace.id} ${error.calendar.id}`, () => runChecked(scope, error, run))
  }
}

async function runChecked<T>(scope: Scope, first: UncheckedEvents, run: (checked: OverlapCheck | 'inside') => Promise<T>): Promise<T> {
  let found = first
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const { calendar, events } = found
    const { version } = await calendarVersion(scope.db, scope.workspace.id, calendar.id)
    await requireNoClash(scope, calendar, events, queryBudget(scope))
    try {
      return await run({ calendarId: calendar.id, version, times: timesKey(events) })
    } catch (error) {
      if (!(error instanceof UncheckedEvents)) throw error
      found = error
    }
  }
  return run('inside')
}

/** The times of events as a key that is equal in every attempt; ids of new events are not. */
const timesKey = (events: readonly EventRow[]): string =>
  JSON.stringify(
    events.map((event) => [
      ...[event.start_at, event.end_at, event.start_date, event.end_date, event.timezone, event.recurrence, event.rdates, event.exdates],
      ...[event.original_start, event.original_date, isBusy(event)],
    ]),
  )

/**
 * Throws SLOT_TAKEN when events of a calendar that refuses overlaps would overlap its other events or each other. Locks the calendar, so
 * that of two concurrent writers one sees the other's event. Repeating events are checked for five years ahead. Call it inside
 * `runWithOverlapCheck` with the `checked` of its `work`, or with `inside` in any other transaction, which then does the comparison itself.
 */
export async function requireNoOverlap(
  scope: Scope,
  calendar: Calendar,
  events: readonly EventRow[],
  checked: OverlapCheck | 'inside',
): Promise<void> {
  if (!calendar.settings.no_overlap || !events.some(isBusy)) return
  if (checked === undefined) throw new UncheckedEvents(calendar, events)
  await scope.db.query(lockCalendar({ workspaceId: scope.workspace.id, id: calendar.id }))
  if (checked === 'inside') return requireNoClash(scope, calendar, events, transactionBudget(scope))
  const { version } = await calendarVersion(scope.db, scope.workspace.id, calendar.id)
  if (checked.calendarId !== calendar.id || checked.version !== version || checked.times !== timesKey(events))
    throw new UncheckedEvents(calendar, events)
}

async function requireNoClash(scope: Scope, calendar: Calendar, events: readonly EventRow[], budget: ComputeBudget): Promise<void> {
  const clash = await findClash(scope, calendar, events, budget)
  if (clash) throw problem('SLOT_TAKEN', `The calendar has another event at ${instantText(clash.from)}`)
}

type Span = Pick<EventOccurrence, 'from' | 'to'>

/** The occurrence that the given events overlap: of another event of the calendar, or of one of theirs. */
async function findClash(scope: Scope, calendar: Calendar, events: readonly EventRow[], budget: ComputeBudget): Promise<Span | undefined> {
  const span = await spanOf(events, calendar, budget)
  if (!span) return undefined
  const dates = { from: new Date(span.from), to: new Date(span.to) }
  const found = await listEventsInWindow(scope.db, scope.workspace.id, [calendar.id], dates, null)
  const ids = new Set(events.map(({ id }) => id))
  const others = found.filter(({ id, series_id }) => !ids.has(id) && !ids.has(series_id ?? ''))
  // The occurrence with the latest end so far: of the given events, and of the other events of the calendar.
  let [own, other]: (Span | undefined)[] = []
  let clash: Span | undefined
  await visitOccurrences(
    [...events, ...others],
    span,
    () => calendar.timezone,
    budget,
    (occurrence) => {
      if (!isBusy(occurrence.event)) return true
      const isOwn = ids.has(occurrence.event.id)
      if (isOwn && other && occurrence.from < other.to) clash = other
      else if (own && occurrence.from < own.to) clash = occurrence
      if (isOwn) own = laterEnd(own, occurrence)
      else other = laterEnd(other, occurrence)
      return clash === undefined
    },
  )
  return clash
}

const laterEnd = (a: Span | undefined, b: Span): Span => (a && a.to >= b.to ? a : b)

/** The span of the busy occurrences of events plus a day on either side, at most five years. Undefined when none is busy. */
async function spanOf(events: readonly EventRow[], calendar: Calendar, budget: ComputeBudget): Promise<Span | undefined> {
  const first = Math.min(...events.map(firstStartOf)) - 2 * dayMs
  const window = { from: first, to: first + reachDays * dayMs }
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  await visitOccurrences(
    events,
    window,
    () => calendar.timezone,
    budget,
    (occurrence) => {
      if (!isBusy(occurrence.event)) return true
      from = Math.min(from, occurrence.from - dayMs)
      to = Math.max(to, occurrence.to + dayMs)
      return true
    },
  )
  return from < to ? { from, to } : undefined
}

function firstStartOf(event: EventRow): number {
  const series = seriesOf(event)
  return series ? firstOf(series) : eventTimeOf(event).start
}
