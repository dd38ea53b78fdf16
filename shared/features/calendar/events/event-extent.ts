import { instantOfWallClock } from '#shared/features/calendar/event-time.ts'
import { type EventRow, eventTimeOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import type { EventWithExtent } from '#shared/features/calendar/events/store.ts'
import { lastStart } from '#shared/features/calendar/series/expand.ts'
import { dayMs } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

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
