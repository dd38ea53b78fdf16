import { questionBudget, transactionBudget } from '#shared/calendar/budget.ts'
import { type Calendar, calendarVersion, lockCalendar } from '#shared/calendar/calendars-store.ts'
import { type EventRow, seriesOf, whenOf } from '#shared/calendar/event.ts'
import { listEventsInWindow } from '#shared/calendar/events-store.ts'
import { type Happens, visitOccurrences } from '#shared/calendar/occurrences.ts'
import { dayMs } from '#shared/calendar/time.ts'
import { fromWall } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { problem } from '#shared/kernel/errors.ts'
import { turns } from '#shared/kernel/turns.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/** How far repeats are held apart, in days. */
const reachDays = 5 * 365

/** Whether an event takes time: one that is cancelled, free, or has no length does not (decisions, Calendar). */
export const isBusy = (event: Pick<EventRow, 'status' | 'is_removed' | 'is_free' | 'start_at' | 'end_at'>): boolean =>
  event.status !== 'cancelled' && !event.is_removed && !event.is_free && (event.start_at === null || event.start_at !== event.end_at)

/** Which events of a calendar were found to overlap nothing, and the version of the calendar at that time; undefined for none so far. */
export type Checked = { readonly calendarId: string; readonly version: number; readonly times: string } | undefined

/** Ends a transaction whose events have to be checked outside it. */
class Unchecked extends Error {
  readonly calendar: Calendar
  readonly events: readonly EventRow[]

  constructor(calendar: Calendar, events: readonly EventRow[]) {
    super('events of a calendar without overlaps were not checked yet')
    this.calendar = calendar
    this.events = events
  }
}

/** Writers of one calendar without overlaps take turns in this process: those that wait hold no connection. */
const turnOf = turns()
/** Times that events are checked outside the transaction, before they are checked inside: other processes may write meanwhile. */
const mostAttempts = 3

/**
 * Runs a transaction that may write events of a calendar without overlaps, and hands its `checked` to `requireNoOverlap`. The events are
 * compared with those of the calendar while no transaction is open; the transaction repeats that only if the calendar has changed since.
 */
export async function holdingApart<T>(scope: Scope, work: (inside: Scope, checked: Checked | 'inside') => Promise<T>): Promise<T> {
  if ('inTransaction' in scope.db) return work(scope, 'inside')
  const run = (checked: Checked | 'inside') => scope.db.transaction((tx) => work(within(scope, tx), checked))
  try {
    return await run(undefined)
  } catch (error) {
    if (!(error instanceof Unchecked)) throw error
    return turnOf(`${scope.workspace.id} ${error.calendar.id}`, () => runChecked(scope, error, run))
  }
}

async function runChecked<T>(scope: Scope, first: Unchecked, run: (checked: Checked | 'inside') => Promise<T>): Promise<T> {
  let found = first
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const { calendar, events } = found
    const { version } = await calendarVersion(scope.db, scope.workspace.id, calendar.id)
    await requireApart(scope, calendar, events, questionBudget(scope))
    try {
      return await run({ calendarId: calendar.id, version, times: timesOf(events) })
    } catch (error) {
      if (!(error instanceof Unchecked)) throw error
      found = error
    }
  }
  return run('inside')
}

/** What of events says when they are; ids of new ones differ from attempt to attempt. */
const timesOf = (events: readonly EventRow[]): string =>
  JSON.stringify(
    events.map((event) => [
      ...[event.start_at, event.end_at, event.start_date, event.end_date, event.timezone, event.recurrence, event.rdates, event.exdates],
      ...[event.original_start, event.original_date, isBusy(event)],
    ]),
  )

/**
 * Throws SLOT_TAKEN when events of a calendar that refuses overlaps would overlap another of its events, each other's occurrences too. Locks
 * the calendar, so that of two who write at once one sees the other's event. Repeats are held apart for five years. Call it inside
 * `holdingApart` with what that hands out, or with `inside` in a transaction of another kind: the events are compared while it is open then.
 */
export async function requireNoOverlap(
  scope: Scope,
  calendar: Calendar,
  events: readonly EventRow[],
  checked: Checked | 'inside',
): Promise<void> {
  if (!calendar.settings.no_overlap || !events.some(isBusy)) return
  if (checked === undefined) throw new Unchecked(calendar, events)
  await lockCalendar(scope.db, scope.workspace.id, calendar.id)
  if (checked === 'inside') return requireApart(scope, calendar, events, transactionBudget(scope))
  const { version } = await calendarVersion(scope.db, scope.workspace.id, calendar.id)
  if (checked.calendarId !== calendar.id || checked.version !== version || checked.times !== timesOf(events))
    throw new Unchecked(calendar, events)
}

async function requireApart(scope: Scope, calendar: Calendar, events: readonly EventRow[], budget: ComputeBudget): Promise<void> {
  const clash = await findClash(scope, calendar, events, budget)
  if (clash) throw problem('SLOT_TAKEN', `The calendar has another event at ${new Date(clash.from).toISOString()}`)
}

type Span = Pick<Happens, 'from' | 'to'>

async function findClash(scope: Scope, calendar: Calendar, events: readonly EventRow[], budget: ComputeBudget): Promise<Span | undefined> {
  const near = await spanOf(events, calendar, budget)
  if (!near) return undefined
  const dates = { from: new Date(near.from), to: new Date(near.to) }
  const found = await listEventsInWindow(scope.db, scope.workspace.id, [calendar.id], dates, null)
  const ids = new Set(events.map(({ id }) => id))
  const others = found.filter(({ id, series_id }) => !ids.has(id) && !ids.has(series_id ?? ''))
  // Of what came before, how long the latest of the own and of the others go on.
  let [ownEnd, otherEnd] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let clash: Span | undefined
  await visitOccurrences(
    [...events, ...others],
    near,
    () => calendar.timezone,
    budget,
    (one) => {
      if (!isBusy(one.event)) return true
      const isOwn = ids.has(one.event.id)
      if (one.from < ownEnd || (isOwn && one.from < otherEnd)) clash = one
      if (isOwn) ownEnd = Math.max(ownEnd, one.to)
      else otherEnd = Math.max(otherEnd, one.to)
      return clash === undefined
    },
  )
  return clash
}

/** The time in which events take place, with a day on either side, five years of it at most. Undefined when they take none. */
async function spanOf(events: readonly EventRow[], calendar: Calendar, budget: ComputeBudget): Promise<Span | undefined> {
  const first = Math.min(...events.map(firstOf)) - 2 * dayMs
  const window = { from: first, to: first + reachDays * dayMs }
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  await visitOccurrences(
    events,
    window,
    () => calendar.timezone,
    budget,
    (one) => {
      if (!isBusy(one.event)) return true
      from = Math.min(from, one.from - dayMs)
      to = Math.max(to, one.to + dayMs)
      return true
    },
  )
  return from < to ? { from, to } : undefined
}

/** When an event starts for the first time: a start beside the rule may come before the rule's first one. */
function firstOf(event: EventRow): number {
  const { start } = whenOf(event)
  const series = seriesOf(event)
  return series ? Math.min(start, ...series.rdates.map((wall) => fromWall(series, wall))) : start
}
