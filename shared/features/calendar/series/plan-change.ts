import { type EventTime, eventTimeColumns, readEventTime, timeText } from '#shared/features/calendar/event-time.ts'
import { applyChange, isSameTime, plainKeys, sentOf, stampChange } from '#shared/features/calendar/events/apply-change.ts'
import { eventTimeOf, occurrenceColumns, originalStartOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import type { EventChange } from '#shared/features/calendar/events/schemas.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { Series } from '#shared/features/calendar/series/expand.ts'
import { moveBetween, moveByDays, moveOriginals, splitRepeats } from '#shared/features/calendar/series/shift.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** One row of a change. `before` is missing for an insert, `after` for a delete. */
export interface RowChange {
  readonly before?: EventRow
  readonly after?: EventRow
  /** For a new exception: the occurrence as the series had it. */
  readonly occurrenceBefore?: EventRow
  /** Set for the earlier part of a split series: new guests apply to the later part only. */
  readonly keepsGuests?: true
}

/** A series and its changed occurrences. */
interface SeriesWithExceptions {
  readonly series: EventRow
  readonly exceptions: readonly EventRow[]
}

/**
 * Row changes of a change to the whole series. Exceptions move with it; those without a start in the new rule are deleted. Cancelling a
 * series cancels its exceptions.
 */
export async function changeSeries(
  { series, exceptions }: SeriesWithExceptions,
  change: EventChange,
  now: Date,
  budget: ComputeBudget,
): Promise<RowChange[]> {
  const last = highestSequence([series, ...exceptions])
  const after = stampChange(series, applyChange(series, change), now, last)
  const [oldSeries, newSeries] = [seriesOf(series), seriesOf(after)]
  const originals = exceptions.flatMap((one) => originalStartOf(one) ?? [])
  if (!oldSeries || !newSeries) return [{ before: series, after }, ...exceptions.map((before) => ({ before }))]
  const isSame = isSameTime(oldSeries, newSeries) && oldSeries.rule === newSeries.rule
  const moved = isSame
    ? new Map(originals.map((start) => [start, start]))
    : await moveOriginals(oldSeries, newSeries, originals, change.recurrence !== undefined, budget)
  const rows: RowChange[] = [{ before: series, after }]
  for (const before of exceptions) {
    const to = moved.get(originalStartOf(before) ?? Number.NaN)
    if (to === undefined) rows.push({ before })
    else
      rows.push({
        before,
        after: stampChange(before, moveException(before, to, series, after, { oldSeries, newSeries }, change), now, last),
      })
    if (budget.isPauseDue()) await budget.pause()
  }
  return rows
}

interface SeriesChange {
  readonly oldSeries: Series
  readonly newSeries: Series
}

/** The fields of a change that are neither times nor repeats. */
const keptKeys = [...plainKeys, 'reminders', 'record_type', 'record_id'] as const

/** Moves an exception to another start of its series. A cancellation applies to it, and changes of fields in which it equals the series. */
function moveException(
  exception: EventRow,
  to: number,
  before: EventRow,
  after: EventRow,
  { oldSeries, newSeries }: SeriesChange,
  change: EventChange,
): EventRow {
  const own = eventTimeOf(exception)
  const when: EventTime = hasOwnTime(own, oldSeries, originalStartOf(exception) ?? own.start)
    ? moveOwnTime(own, { oldSeries, newSeries })
    : { ...newSeries, start: to, end: to + (newSeries.end - newSeries.start) }
  const plain = Object.entries(sentOf(change, keptKeys)).filter(
    ([key, value]) => isInherited(exception, before, key as keyof EventRow) || (key === 'status' && value === 'cancelled'),
  )
  return {
    ...applyChange(exception, Object.fromEntries(plain) as EventChange),
    ...eventTimeColumns(when),
    ...occurrenceColumns(after, to),
    calendar_id: after.calendar_id,
  }
}

/** Whether an exception has the series' value of a field. A link to a record is one value of two fields. */
function isInherited(exception: EventRow, series: EventRow, key: keyof EventRow): boolean {
  const keys: readonly (keyof EventRow)[] = key === 'record_type' || key === 'record_id' ? ['record_type', 'record_id'] : [key]
  return keys.every((one) => JSON.stringify(exception[one]) === JSON.stringify(series[one]))
}

/** Moves an exception's own time with its series. If only one of the two is all-day, it moves by whole days. */
function moveOwnTime(own: EventTime, { oldSeries, newSeries }: SeriesChange): EventTime {
  if (isSameTime(oldSeries, newSeries)) return own
  const length = own.end - own.start
  if (own.allDay !== oldSeries.allDay) {
    const start = moveByDays(oldSeries, newSeries, own)
    return { ...own, start, end: start + length }
  }
  const start = moveBetween(oldSeries, newSeries)(own.start)
  return { ...newSeries, start, end: start + (newSeries.allDay === own.allDay ? length : newSeries.end - newSeries.start) }
}

/** The highest SEQUENCE of a UID's rows. A change exceeds it, so that calendar programs never see SEQUENCE fall for an occurrence. */
export const highestSequence = (rows: readonly EventRow[]): number => Math.max(...rows.map(({ sequence }) => sequence))

const hasOwnTime = (own: EventTime, series: EventTime, original: number): boolean =>
  !isSameTime(own, { ...series, start: original, end: original + (series.end - series.start) })

/**
 * Converts a change of the occurrence at `original` and all following ones to a change of the first start of their series. The times in
 * `change` are those of the occurrence, which may be an added start (`rdates`); the first start moves by the same distance in local time.
 */
export function asChangeOfFirstStart(series: EventRow, original: number, change: EventChange): EventChange {
  const own = eventTimeOf(series)
  if (original === own.start || change.recurrence) return change
  const at = { ...own, start: original, end: original + (own.end - own.start) }
  const to = readEventTime(change, at, own.zone)
  // An unchanged time must not become that of the first start, which is another one when the split is at an added start.
  if (isSameTime(at, to)) return withoutTime(change)
  const start = moveBetween(at, to)(own.start)
  const [from, until] = [start, start + (to.end - to.start)].map((ms) => timeText(ms, to.allDay))
  return { ...change, start: from as string, end: until as string, all_day: to.allDay }
}

const withoutTime = ({ start: _start, end: _end, all_day: _allDay, timezone: _timezone, ...others }: EventChange): EventChange => others

/** Row changes of a change to one occurrence: updates its exception or inserts one. */
export function changeOccurrence(
  { series, exceptions }: SeriesWithExceptions,
  original: number,
  exception: EventRow | undefined,
  change: EventChange,
  now: Date,
): RowChange[] {
  if (change.recurrence) throw problem('VALIDATION_ERROR', 'recurrence applies to the whole series: use scope=all or following')
  if (change.calendar_id !== undefined && change.calendar_id.toLowerCase() !== series.calendar_id)
    throw problem('VALIDATION_ERROR', 'calendar_id applies to the whole series: use scope=all')
  const { recurrence: _, ...own } = change
  const known = exception ?? newExceptionRow(series, original, now)
  const after = stampChange(known, applyChange(known, own), now, highestSequence([series, ...exceptions]))
  return [exception ? { before: exception, after } : { after, occurrenceBefore: known }]
}

/** Builds the row of an occurrence with the series' own values, for a new exception. */
export function newExceptionRow(series: EventRow, original: number, now: Date): EventRow {
  const when = eventTimeOf(series)
  const createdAt = now.toISOString()
  return {
    ...series,
    ...eventTimeColumns({ ...when, start: original, end: original + (when.end - when.start) }),
    ...occurrenceColumns(series, original),
    id: newId(),
    recurrence: null,
    rdates: [],
    exdates: [],
    deduplication_key: null,
    created_at: createdAt,
    updated_at: createdAt,
    timed_at: createdAt,
  }
}

/**
 * Splits a series at one of its occurrences: `kept` shortens it, `rest` is a new series with a new UID. Each occurrence is in one of them,
 * and exceptions go with their occurrences.
 */
export function splitSeries(
  { series, exceptions }: SeriesWithExceptions,
  original: number,
  now: Date,
): { kept: RowChange[]; rest: SeriesWithExceptions } {
  const parts = splitRepeats(series, original)
  const when = eventTimeOf(series)
  const id = newId()
  const createdAt = now.toISOString()
  const partOf = ({ start, ...repeats }: typeof parts.after): EventRow => ({
    ...series,
    ...(start === when.start ? {} : eventTimeColumns({ ...when, start, end: start + (when.end - when.start) })),
    ...repeats,
  })
  const rest: EventRow = {
    ...partOf(parts.after),
    id,
    uid: `${id}@kontor`,
    sequence: 0,
    deduplication_key: null,
    created_at: createdAt,
    updated_at: createdAt,
    timed_at: createdAt,
  }
  const later = exceptions.filter((one) => (originalStartOf(one) ?? 0) >= original).map((one) => ({ ...one, series_id: id, uid: rest.uid }))
  return {
    kept: [
      {
        before: series,
        after: stampChange(series, partOf(parts.before), now, highestSequence([series, ...exceptions])),
        keepsGuests: true,
      },
    ],
    rest: { series: rest, exceptions: later },
  }
}
