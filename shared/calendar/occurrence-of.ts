import { type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import { isStart } from '#shared/calendar/expand.ts'
import { dateMs, instantMs } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isDay } from '#shared/kernel/instant.ts'

/** An occurrence of a series: the start that its rule gives it, and its own row where it has one. */
export interface OneOccurrence {
  readonly original: number
  readonly exception: EventRow | undefined
}

/**
 * The occurrence that a caller names by when its series has it, or by when it is now (decisions, Calendar). Throws VALIDATION_ERROR when
 * none is named, or the series has none there.
 */
export function occurrenceOf(series: EventRow, exceptions: readonly EventRow[], text: string | undefined): OneOccurrence {
  if (text === undefined) throw problem('VALIDATION_ERROR', 'occurrence is required: when the occurrence starts')
  const { allDay } = whenOf(series)
  const named = readStart(text, allDay)
  const exception = exceptions.find((one) => originalOf(one) === named)
  if (exception && !exception.is_removed) return { original: named, exception }
  const repeats = seriesOf(series)
  if (!exception && repeats && isStart(repeats, named)) return { original: named, exception: undefined }
  const moved = exceptions.find((one) => !one.is_removed && whenOf(one).start === named && whenOf(one).allDay === allDay)
  const original = moved && originalOf(moved)
  if (moved && original !== undefined) return { original, exception: moved }
  throw problem('VALIDATION_ERROR', 'occurrence must be when an occurrence of the series starts')
}

function readStart(text: string, allDay: boolean): number {
  const ms = allDay ? (isDay(text.slice(0, 10)) ? dateMs(text.slice(0, 10)) : undefined) : instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `occurrence must be ${allDay ? 'YYYY-MM-DD' : 'an RFC 3339 instant'}`)
  return ms
}
