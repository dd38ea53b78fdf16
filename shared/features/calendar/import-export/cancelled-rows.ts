import { eventTimeOf, originalStartOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import type { FileWhen } from '#shared/features/calendar/ics/file-starts.ts'
import { originalStartIn } from '#shared/features/calendar/ics/file-starts.ts'
import type { FileCancel } from '#shared/features/calendar/ics/read-event.ts'
import { isSeriesStart, type Series } from '#shared/features/calendar/series/expand.ts'
import { newExceptionRow } from '#shared/features/calendar/series/plan-change.ts'
import { splitRepeats } from '#shared/features/calendar/series/shift.ts'

/** The rows of a UID. */
interface Rows {
  readonly event: EventRow
  readonly exceptions: readonly EventRow[]
}

/** Cancels what the METHOD:CANCEL of a file names: the event, one occurrence, or all from one on. Adds notes on what it does not have. */
export function cancelNamed(rows: Rows, cancels: readonly FileCancel[], now: Date): Rows & { readonly notes: readonly string[] } {
  const notes: string[] = []
  let cancelled = rows
  for (const cancel of cancels) {
    const next = cancelOne(cancelled, cancel, now)
    if (next) cancelled = next
    else notes.push(`cancels an occurrence that the event does not have, in line ${cancel.line}`)
  }
  return { event: cancelled.event, exceptions: cancelled.exceptions, notes }
}

function cancelOne({ event, exceptions }: Rows, { original, isForLater, sequence, zoneLookup }: FileCancel, now: Date): Rows | undefined {
  const stamp = (row: EventRow): EventRow => ({ ...row, sequence: Math.max(row.sequence, sequence), updated_at: now.toISOString() })
  const cancel = (row: EventRow): EventRow => ({ ...stamp(row), status: 'cancelled' })
  const when: FileWhen = { ...eventTimeOf(event), tzid: undefined }
  const at = original && originalStartIn(original, when, zoneLookup)
  const series = seriesOf(event)
  if (at === undefined || (isForLater ? at <= when.start : !series && at === when.start))
    return { event: cancel(event), exceptions: exceptions.map(cancel) }
  if (!series) return undefined
  if (isForLater) {
    const { start: _, ...repeats } = splitRepeats(event, at).before
    return { event: { ...stamp(event), ...repeats }, exceptions: exceptions.filter((row) => (originalStartOf(row) ?? 0) < at) }
  }
  if (exceptions.some((row) => originalStartOf(row) === at))
    return { event, exceptions: exceptions.map((row) => (originalStartOf(row) === at ? cancel(row) : row)) }
  if (!hasStart(series, at)) return undefined
  return { event, exceptions: [...exceptions, cancel(newExceptionRow(event, at, now))] }
}

/** Whether a series has a start; not where its rule takes too long to compute. */
function hasStart(series: Series, at: number): boolean {
  try {
    return isSeriesStart(series, at)
  } catch {
    return false
  }
}
