import type { Scope } from '#shared/core/scope/scope.ts'
import { type ReadEvent, requireVisibleEvent } from '#shared/features/calendar/events/read-event.ts'
import { type EventRow, findEvent, findExceptions, lockEvent } from '#shared/features/calendar/events/store.ts'
import { type Attendee, findAttendees } from '#shared/features/calendar/guests/store.ts'
import type { CalendarAccess } from '#shared/features/calendar/schemas.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** An event that is locked for a change, with its series, exceptions and guests. */
export interface EventSet extends ReadEvent {
  /** The series if the event is one or an occurrence of one. */
  readonly series: EventRow | undefined
  /** Changed occurrences of the series, removed ones included. */
  readonly exceptions: readonly EventRow[]
  /** Guests of the event, the series and the exceptions, by event id. */
  readonly guestsOf: ReadonlyMap<string, readonly Attendee[]>
}

/** Locks an event for a change; an occurrence is locked through its series. Throws NOT_FOUND and FORBIDDEN like `requireVisibleEvent`. */
export async function lockEventSet(scope: Scope, id: string, needed: CalendarAccess): Promise<EventSet> {
  const { db, workspace } = scope
  const found = isUuid(id) ? await firstRow(db, findEvent({ workspaceId: workspace.id, id })) : undefined
  const root = found && (await firstRow(db, lockEvent({ workspaceId: workspace.id, id: found.series_id ?? found.id })))
  const isOccurrence = found !== undefined && found.series_id !== null
  const event = root && isOccurrence ? await firstRow(db, findEvent({ workspaceId: workspace.id, id: found.id })) : root
  const read = await requireVisibleEvent(scope, event, needed)
  const series = root?.recurrence ? root : undefined
  const exceptions = series ? await findExceptions(db, workspace.id, [series.id]) : []
  const ids = [read.event.id, ...(series ? [series.id] : []), ...exceptions.map((one) => one.id)]
  return { ...read, series, exceptions, guestsOf: await findAttendees(db, workspace.id, [...new Set(ids)]) }
}

/** The guests of one event of a set. */
export const guestsOfEvent = ({ guestsOf }: Pick<EventSet, 'guestsOf'>, { id }: Pick<EventRow, 'id'>): readonly Attendee[] =>
  guestsOf.get(id) ?? []
