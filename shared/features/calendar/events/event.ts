import { type EventTime, instantOfWallClock } from '#shared/features/calendar/event-time.ts'
import type { EventRow, EventWithExtent } from '#shared/features/calendar/events/store.ts'
import { lastStart, type Series } from '#shared/features/calendar/series/expand.ts'
import { dateMs, dateText, instantText } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** Whether an event takes place: neither cancelled nor removed. */
export const takesPlace = ({ status, is_removed }: Pick<EventRow, 'status' | 'is_removed'>): boolean =>
  status !== 'cancelled' && !is_removed

/** The time of an event. */
export function eventTimeOf(row: Pick<EventRow, 'start_at' | 'end_at' | 'start_date' | 'end_date' | 'timezone'>): EventTime {
  const zone = row.timezone
  if (row.start_date !== null && row.end_date !== null)
    return { allDay: true, start: dateMs(row.start_date), end: dateMs(row.end_date), zone }
  return { allDay: false, start: Date.parse(row.start_at ?? ''), end: Date.parse(row.end_at ?? ''), zone }
}

/** The start of the series that an exception replaces, in milliseconds as in `EventTime`; undefined for any other event. */
export function originalStartOf({ original_start, original_date }: Pick<EventRow, 'original_start' | 'original_date'>): number | undefined {
  if (original_date !== null) return dateMs(original_date)
  return original_start === null ? undefined : Date.parse(original_start)
}

/** Columns of an event's time and repeats. */
export type EventTimeColumns = Pick<
  EventRow,
  'start_at' | 'end_at' | 'start_date' | 'end_date' | 'timezone' | 'recurrence' | 'rdates' | 'exdates' | 'original_start' | 'original_date'
>

/** The repeats of an event; undefined when it has none. */
export function seriesOf(row: EventTimeColumns): Series | undefined {
  if (row.recurrence === null) return undefined
  const when = eventTimeOf(row)
  const starts = (walls: readonly string[]) => walls.map((wall) => Date.parse(`${wall}Z`))
  return { ...when, rule: row.recurrence, rdates: starts(row.rdates), exdates: starts(row.exdates) }
}

/** Formats a local time as the columns `rdates` and `exdates` store it. */
export const wallClockText = (wall: number): string => new Date(wall).toISOString().slice(0, 19)

const maxMs = Date.parse('9999-12-31T23:59:59Z')
const boundedInstantText = (ms: number): string => new Date(Math.min(ms, maxMs)).toISOString()

/** Adds `extent`, the time range of all occurrences. Dates get a day more at both ends: a day begins at another instant in each zone. */
export function withExtent(row: EventRow): EventWithExtent {
  const when = eventTimeOf(row)
  const margin = when.allDay ? dayMs : 0
  const series = seriesOf(row)
  const earliest = Math.min(...(series?.rdates ?? []))
  const first = series && Number.isFinite(earliest) ? Math.min(when.start, instantOfWallClock(series, earliest)) : when.start
  const last = series ? lastStart(series) : when.start
  const upper = last === undefined ? undefined : last + (when.end - when.start) + margin
  const lower = first - margin
  const isPoint = upper !== undefined && upper <= lower
  return {
    ...row,
    extent: `[${boundedInstantText(lower)},${upper === undefined ? '' : boundedInstantText(Math.max(upper, lower))}${isPoint ? ']' : ')'}`,
  }
}

/** Like `withExtent` for many events, with pauses between them: counting the occurrences of one takes up to some milliseconds. */
export async function withExtents(rows: readonly EventRow[], budget: ComputeBudget): Promise<EventWithExtent[]> {
  const events: EventWithExtent[] = []
  for (const row of rows) {
    events.push(withExtent(row))
    await budget.pause()
  }
  return events
}

/** Columns that make a row an exception: its series and the original start. */
export const occurrenceColumns = (series: EventRow, original: number) => {
  const { allDay } = eventTimeOf(series)
  return {
    series_id: series.id,
    uid: series.uid,
    original_start: allDay ? null : instantText(original),
    original_date: allDay ? dateText(original) : null,
  }
}
