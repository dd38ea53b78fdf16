import type { ShowEvent, ShownEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf } from '#shared/features/calendar/access.ts'
import { findCalendarsById } from '#shared/features/calendar/calendars/store.ts'
import { type EventAccess, eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import type { CalendarOfEvents, EventDetails, EventPlace } from '#shared/features/calendar/listed-events/listed-event.ts'
import { findLastKept, findPlacements } from '#shared/features/calendar/listed-events/placement-store.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'

/** The calendar and privacy of an event at one time, and whether the viewer was its guest. */
interface Place {
  readonly calendarId: string
  readonly visibility: 'default' | 'private'
  readonly isGuest: boolean
  /** The calendar as it was announced, which counts once it is gone. */
  readonly announced?: CalendarOfEvents
}

const accesses: readonly EventAccess[] = ['none', 'busy', 'details']

/**
 * Prepares showing calendar events. The viewer's access of now is tested on the event as it was announced and as it is now, and the lower one
 * counts. Of an event that is gone, the last announcement is its present state.
 */
export async function prepareCalendarEvents(scope: Scope, events: readonly StoredEvent[]): Promise<ShowEvent> {
  const presentPlaces = await findPresentPlaces(scope, events)
  const places = new Map(events.map((event) => [event.id, [placeOf(scope, keptOf(event)), ...presentPlaces(event)]]))
  const ids = [...new Set([...places.values()].flat().map(({ calendarId }) => calendarId))]
  const { actor, db, workspace } = scope
  const found = await db.query(findCalendarsById({ workspaceId: workspace.id, userId: actor.personId, ids }))
  const calendars = new Map(found.map((calendar) => [calendar.id, calendar]))
  const accessTo = ({ calendarId, announced, visibility, isGuest }: Place): EventAccess => {
    // Nobody has a share of a calendar that is gone: its owner and roles that name its key still reach its events.
    const gone = announced && { ...announced, visibility: 'none' as const, share: null }
    const calendar = calendars.get(calendarId) ?? gone
    return calendar ? eventAccessOf({ visibility }, { access: calendarAccessOf(calendar, actor), isGuest }) : 'none'
  }
  return async (event) => {
    const lowest = Math.min(...(places.get(event.id) ?? []).map((place) => accesses.indexOf(accessTo(place))))
    if (accesses[lowest] === 'details') return showStored(event)
    return accesses[lowest] === 'busy' ? showTimes(event) : undefined
  }
}

const keptOf = ({ kept }: StoredEvent): EventPlace => kept as unknown as EventPlace
const detailsOf = ({ data }: StoredEvent): EventDetails => data as unknown as EventDetails

function placeOf({ actor: { personId } }: Scope, { calendar, visibility, guest_ids }: EventPlace): Place {
  return { calendarId: calendar.id, visibility, isGuest: personId !== null && guest_ids.includes(personId), announced: calendar }
}

/** Finds the places of now of some events: of an occurrence that is gone also the place of its series, which may have become private since. */
async function findPresentPlaces(scope: Scope, events: readonly StoredEvent[]): Promise<(event: StoredEvent) => readonly Place[]> {
  const { actor, db, workspace } = scope
  const workspaceId = workspace.id
  const ids = [...new Set(events.flatMap((event) => [event.subjectId, detailsOf(event).series_id]))]
  const rows = await db.query(findPlacements({ workspaceId, userId: actor.personId, ids }))
  const placements = new Map(rows.map((row) => [row.id, row]))
  const goneIds = [...new Set(events.map(({ subjectId }) => subjectId))].filter((id) => !placements.has(id))
  const rowsKept = goneIds.length > 0 ? await db.query(findLastKept({ workspaceId, ids: goneIds })) : []
  const lastKept = new Map(rowsKept.map(({ id, kept }) => [id, kept]))
  return (event) => {
    const own = placements.get(event.subjectId)
    if (own) return [{ calendarId: own.calendar_id, visibility: own.visibility, isGuest: own.is_guest }]
    const last = placeOf(scope, lastKept.get(event.subjectId) ?? keptOf(event))
    const series = placements.get(detailsOf(event).series_id ?? '')
    if (!series) return [last]
    return [last, { calendarId: series.calendar_id, visibility: series.visibility, isGuest: series.is_guest || last.isGuest }]
  }
}

/** The event for who sees busy times only: neither what it is, nor who did it, nor how. */
function showTimes(event: StoredEvent): ShownEvent {
  const { start, end, all_day } = detailsOf(event)
  return {
    actor: { id: null, type: 'system' },
    cause: { kind: 'system', id: null },
    subject: event.subject ?? {},
    data: { start, end, all_day },
  }
}
