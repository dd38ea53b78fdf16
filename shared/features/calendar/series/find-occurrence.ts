import { type EventRow, eventTimeOf, originalStartOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import { isSeriesStart } from '#shared/features/calendar/series/expand.ts'
import { dateMs, instantMs } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/** An occurrence of a series: its start in the series, and its exception if it has one. */
export interface FoundOccurrence {
  readonly original: number
  readonly exception: EventRow | undefined
}

/**
 * Finds the occurrence that a request names by its start in the series or by its current start (decisions, Calendar). Throws
 * VALIDATION_ERROR when the text is missing or names no occurrence.
 */
export function findOccurrence(series: EventRow, exceptions: readonly EventRow[], text: string | undefined): FoundOccurrence {
  if (text === undefined) throw problem('VALIDATION_ERROR', 'occurrence is required: the start of the occurrence')
  const { allDay } = eventTimeOf(series)
  const start = readStart(text, allDay)
  const exception = exceptions.find((one) => originalStartOf(one) === start)
  if (exception && !exception.is_removed) return { original: start, exception }
  const repeats = seriesOf(series)
  if (!exception && repeats && isSeriesStart(repeats, start)) return { original: start, exception: undefined }
  const moved = exceptions.find((one) => !one.is_removed && eventTimeOf(one).start === start && eventTimeOf(one).allDay === allDay)
  const original = moved && originalStartOf(moved)
  if (moved && original !== undefined) return { original, exception: moved }
  throw problem('VALIDATION_ERROR', 'occurrence must be the start of an occurrence of the series')
}

function readStart(text: string, allDay: boolean): number {
  const ms = allDay ? (isDay(text.slice(0, 10)) ? dateMs(text.slice(0, 10)) : undefined) : instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `occurrence must be ${allDay ? 'YYYY-MM-DD' : 'an RFC 3339 instant'}`)
  return ms
}
