import { fromWall } from '#shared/features/calendar/event-time.ts'
import { type EventRow, seriesOf, whenOf } from '#shared/features/calendar/events/event.ts'
import type { WrittenEvent } from '#shared/features/calendar/events/store.ts'
import { lastStart } from '#shared/features/calendar/series/expand.ts'
import { dayMs } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

const maxMs = Date.parse('9999-12-31T23:59:59Z')
const boundedInstantText = (ms: number): string => new Date(Math.min(ms, maxMs)).toISOString()

/** Adds `extent`, the time range of all occurrences. Dates get a day more at both ends: a day begins at another instant in each zone. */
export function written(row: EventRow): WrittenEvent {
  const when = whenOf(row)
  const margin = when.allDay ? dayMs : 0
  const series = seriesOf(row)
  const earliest = Math.min(...(series?.rdates ?? []))
  const first = series && Number.isFinite(earliest) ? Math.min(when.start, fromWall(series, earliest)) : when.start
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
export async function writtenAll(rows: readonly EventRow[], budget: ComputeBudget): Promise<WrittenEvent[]> {
  const events: WrittenEvent[] = []
  for (const row of rows) {
    events.push(written(row))
    await budget.pause()
  }
  return events
}
