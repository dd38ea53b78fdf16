import type { Occurrence } from '#shared/calendar/event-schemas.ts'
import type { ListedEvent } from '#shared/calendar/events-store.ts'
import type { Happens } from '#shared/calendar/occurrences.ts'
import { hiddenTitle, sightOf, type Viewer } from '#shared/calendar/sight.ts'
import { shownTime } from '#shared/calendar/when.ts'

/** An occurrence in the answer's shape, with the instant by which the list is sorted. */
export interface Shown {
  readonly from: number
  readonly shown: Occurrence
}

/** The occurrence as the viewer may see it; empty when the viewer may not see it. */
export function shownTo({ event, when, from }: Happens<ListedEvent>, viewer: Viewer): Shown[] {
  const access = sightOf(event, viewer)
  if (access === 'none') return []
  const shown: Occurrence = {
    event_id: event.id,
    series_id: event.series_id ?? (event.recurrence === null ? null : event.id),
    calendar_id: event.calendar_id,
    start: shownTime(when.start, when.allDay),
    end: shownTime(when.end, when.allDay),
    all_day: when.allDay,
    title: access === 'details' ? event.title : hiddenTitle,
    status: event.status,
    recurring: event.recurrence !== null || event.series_id !== null,
    details: access === 'details',
  }
  return [{ from, shown }]
}
