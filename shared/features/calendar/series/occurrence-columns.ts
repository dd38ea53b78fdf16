import { type EventRow, eventTimeOf } from '#shared/features/calendar/events/event.ts'
import { dateText, instantText } from '#shared/features/calendar/time.ts'

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
