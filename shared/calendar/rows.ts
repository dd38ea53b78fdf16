import { type EventRow, seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { WrittenEvent } from '#shared/calendar/events-store.ts'
import { lastStart } from '#shared/calendar/expand.ts'
import { dayMs } from '#shared/calendar/time.ts'
import { fromWall } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'

const latest = Date.parse('9999-12-31T23:59:59Z')
const instant = (ms: number): string => new Date(Math.min(ms, latest)).toISOString()

/** An event with the time that all of its occurrences span. Dates have a day more at both ends: they begin when a zone's day does. */
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
  return { ...row, extent: `[${instant(lower)},${upper === undefined ? '' : instant(Math.max(upper, lower))}${isPoint ? ']' : ')'}` }
}

/** The same of many events. It pauses between them: counting the occurrences of one takes up to some milliseconds. */
export async function writtenAll(rows: readonly EventRow[], budget: ComputeBudget): Promise<WrittenEvent[]> {
  const all: WrittenEvent[] = []
  for (const row of rows) {
    all.push(written(row))
    await budget.pause()
  }
  return all
}
