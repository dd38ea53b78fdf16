import { timeText } from '#shared/features/calendar/event-time.ts'
import { type EventViewer, eventAccessOf, hiddenTitle } from '#shared/features/calendar/events/access-level.ts'
import type { Occurrence } from '#shared/features/calendar/events/schemas.ts'
import type { ListedEvent } from '#shared/features/calendar/events/store.ts'
import type { EventOccurrence } from '#shared/features/calendar/series/occurrences.ts'

/** An occurrence in the answer's shape, with the instant by which the list is sorted. */
export interface ListedOccurrence {
  readonly from: number
  readonly occurrence: Occurrence
}

/** The occurrence as the viewer may see it; empty when the viewer may not see it. */
export function listedOccurrencesFor({ event, when, from }: EventOccurrence<ListedEvent>, viewer: EventViewer): ListedOccurrence[] {
  const access = eventAccessOf(event, viewer)
  if (access === 'none') return []
  const shown: Occurrence = {
    event_id: event.id,
    series_id: event.series_id ?? (event.recurrence === null ? null : event.id),
    calendar_id: event.calendar_id,
    start: timeText(when.start, when.allDay),
    end: timeText(when.end, when.allDay),
    all_day: when.allDay,
    title: access === 'details' ? event.title : hiddenTitle,
    status: event.status,
    recurring: event.recurrence !== null || event.series_id !== null,
    details: access === 'details',
  }
  return [{ from, occurrence: shown }]
}
