import { applyChange, isSameTime, stamped } from '#shared/calendar/apply-change.ts'
import { type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { EventChange } from '#shared/calendar/event-schemas.ts'
import { occurrenceColumns } from '#shared/calendar/occurrence-row.ts'
import type { Take } from '#shared/calendar/rule-days.ts'
import { movedOriginal, movement, splitRepeats } from '#shared/calendar/shift.ts'
import { type When, whenColumns } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'

/** One event of a change, as it was and as it is to be; neither is there for one that is made or goes. */
export interface RowChange {
  readonly before?: EventRow
  readonly after?: EventRow
  /** Of an occurrence that becomes a row of its own: what it was as one of its series. */
  readonly was?: EventRow
}

/** A series and its changed occurrences. */
export interface Repeating {
  readonly series: EventRow
  readonly exceptions: readonly EventRow[]
}

/** What a change makes of a whole series: its occurrences of their own move along, and those that its new rule has not go. */
export async function changeSeries(
  { series, exceptions }: Repeating,
  change: EventChange,
  now: Date,
  budget: ComputeBudget,
): Promise<RowChange[]> {
  const after = stamped(series, applyChange(series, change), now)
  const plain = withoutTimes(change)
  const rows: RowChange[] = [{ before: series, after }]
  for (const exception of exceptions) {
    rows.push(moveAlong(exception, series, after, plain, change, now, (steps) => budget.take(steps)))
    await budget.pause()
  }
  return rows
}

function moveAlong(
  exception: EventRow,
  before: EventRow,
  after: EventRow,
  plain: EventChange,
  change: EventChange,
  now: Date,
  take: Take,
): RowChange {
  const [was, is] = [seriesOf(before), seriesOf(after)]
  const original = originalOf(exception)
  const moved = was && is && original !== undefined ? movedOriginal(was, is, original, change.recurrence !== undefined, take) : undefined
  if (!was || !is || moved === undefined || original === undefined) return { before: exception }
  const own = whenOf(exception)
  const move = movement(was, is)
  const followed: When = hasOwnTime(own, was, original)
    ? { ...is, start: move(own.start), end: move(own.start) + (is.allDay === own.allDay ? own.end - own.start : is.end - is.start) }
    : { ...is, start: moved, end: moved + (is.end - is.start) }
  const inherited = Object.fromEntries(
    Object.entries(plain).filter(([key]) => exception[key as keyof EventRow] === before[key as keyof EventRow]),
  ) as EventChange
  const row = {
    ...applyChange(exception, inherited),
    ...whenColumns(followed),
    ...occurrenceColumns(after, moved),
    calendar_id: after.calendar_id,
  }
  return { before: exception, after: stamped(exception, row, now) }
}

const hasOwnTime = (own: When, series: When, original: number): boolean =>
  !isSameTime(own, { ...series, start: original, end: original + (series.end - series.start) })

/** What of a change says nothing of times or repeats. */
function withoutTimes({ title, description, location, color, status, visibility }: EventChange): EventChange {
  return Object.fromEntries(
    Object.entries({ title, description, location, color, status, visibility }).filter(([, value]) => value !== undefined),
  ) as EventChange
}

/** What a change makes of one occurrence: a row of its own, made where there is none. */
export function changeOccurrence(
  series: EventRow,
  original: number,
  exception: EventRow | undefined,
  change: EventChange,
  now: Date,
): RowChange[] {
  if (change.recurrence) throw problem('VALIDATION_ERROR', 'recurrence is of the whole series: use scope=all or following')
  if (change.calendar_id !== undefined && change.calendar_id !== series.calendar_id)
    throw problem('VALIDATION_ERROR', 'calendar_id is of the whole series: use scope=all')
  const { recurrence: _, ...own } = change
  const known = exception ?? occurrenceRow(series, original, now)
  const after = stamped(known, applyChange(known, own), now)
  return [exception ? { before: exception, after } : { after, was: known }]
}

/** An occurrence as a row of its own, as its series has it. */
export function occurrenceRow(series: EventRow, original: number, now: Date): EventRow {
  const when = whenOf(series)
  const at = now.toISOString()
  return {
    ...series,
    ...whenColumns({ ...when, start: original, end: original + (when.end - when.start) }),
    ...occurrenceColumns(series, original),
    ...{ id: newId(), recurrence: null, rdates: [], exdates: [], natural_key: null, created_at: at, updated_at: at, timed_at: at },
  }
}

/**
 * A series cut at one of its occurrences: what it keeps, and a new one with the rest and a UID of its own. Every occurrence is in one of
 * them, and exceptions go with theirs.
 */
export function splitSeries({ series, exceptions }: Repeating, original: number, now: Date): { kept: RowChange[]; rest: Repeating } {
  const parts = splitRepeats(series, original)
  const when = whenOf(series)
  const id = newId()
  const at = now.toISOString()
  const rest: EventRow = {
    ...series,
    ...whenColumns({ ...when, start: original, end: original + (when.end - when.start) }),
    ...parts.after,
    ...{ id, uid: `${id}@kontor`, sequence: 0, natural_key: null, created_at: at, updated_at: at, timed_at: at },
  }
  const later = exceptions.filter((one) => (originalOf(one) ?? 0) >= original).map((one) => ({ ...one, series_id: id, uid: rest.uid }))
  return {
    kept: [{ before: series, after: stamped(series, { ...series, ...parts.before }, now) }],
    rest: { series: rest, exceptions: later },
  }
}
