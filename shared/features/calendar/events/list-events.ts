import type { Scope } from '#shared/core/scope/scope.ts'
import { accessByLevel, type CalendarWithAccess, requireCalendars } from '#shared/features/calendar/access.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { reachableCalendars } from '#shared/features/calendar/calendars/calendars.ts'
import { type ListedOccurrence, listedOccurrencesFor } from '#shared/features/calendar/events/listed-occurrence.ts'
import type { ListQuery, Occurrence } from '#shared/features/calendar/events/schemas.ts'
import { type ListedEvent, listEventsInWindow, listInvitedInWindow } from '#shared/features/calendar/events/store.ts'
import { listRecordOccurrences } from '#shared/features/calendar/record-calendars/record-occurrences.ts'
import { isFlagOn } from '#shared/features/calendar/schemas.ts'
import { dayWindowOf, type ListWindow, listOccurrencesIn } from '#shared/features/calendar/series/occurrences.ts'
import { readTimeWindow } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Upper bound of a list's occurrences. */
const maxListedOccurrences = 2_000

/** Lists the occurrences in a window that the caller may see, ordered by start (docs/contract/calendar.md#event-list). */
export async function listEvents(scope: Scope, query: ListQuery): Promise<{ events: Occurrence[] }> {
  const window: ListWindow = { ...readTimeWindow(query.from, query.to, scope.workspace.timezone), ...dayWindowOf(query.from, query.to) }
  const ids = query.calendars === undefined ? undefined : query.calendars.split(',').filter((id) => id !== '')
  const calendars = ids === undefined ? await reachableCalendars(scope, false) : await requireCalendars(scope, ids)
  // A request that names calendars gets invitations only if it sends `invites`.
  const withInvites = isFlagOn(query.invites, true) && (ids === undefined || query.invites !== undefined)
  const eventCalendars = calendars.filter(({ calendar }) => calendar.kind !== 'records')
  const budget = queryBudget(scope)
  const own = await ownEvents(scope, eventCalendars, window, budget)
  const invited = withInvites ? await invitedEvents(scope, eventCalendars, window, budget) : []
  const ofRecords = await listRecordOccurrences(scope, calendars, window, maxListedOccurrences)
  const events = [...own, ...invited, ...ofRecords].sort(
    (a, b) => a.from - b.from || (a.occurrence.event_id < b.occurrence.event_id ? -1 : 1),
  )
  return { events: events.slice(0, maxListedOccurrences).map(({ occurrence }) => occurrence) }
}

const instantsToRead = ({ from, to, days }: ListWindow) => ({
  from: new Date(Math.min(from, days?.from ?? from)),
  to: new Date(Math.max(to, days?.to ?? to)),
})

async function ownEvents(
  scope: Scope,
  calendars: readonly CalendarWithAccess[],
  window: ListWindow,
  budget: ComputeBudget,
): Promise<ListedOccurrence[]> {
  const byId = new Map(calendars.map((accessed) => [accessed.calendar.id, accessed]))
  const found = await listEventsInWindow(scope.db, scope.workspace.id, [...byId.keys()], instantsToRead(window), scope.actor.personId)
  const zoneOf = (event: ListedEvent) => byId.get(event.calendar_id)?.calendar.timezone ?? event.timezone
  return (await listOccurrencesIn(found, window, zoneOf, budget, maxListedOccurrences)).flatMap((found) => {
    const access = byId.get(found.event.calendar_id)?.access ?? accessByLevel('none')
    return listedOccurrencesFor(found, { access, isGuest: found.event.my_status !== null })
  })
}

async function invitedEvents(
  scope: Scope,
  calendars: readonly CalendarWithAccess[],
  window: ListWindow,
  budget: ComputeBudget,
): Promise<ListedOccurrence[]> {
  const { actor, db, workspace } = scope
  if (actor.personId === null) return []
  const excludedIds = calendars.map(({ calendar }) => calendar.id)
  const found = await db.query(
    listInvitedInWindow({ workspaceId: workspace.id, exceptCalendarIds: excludedIds, ...instantsToRead(window), userId: actor.personId }),
  )
  const occurrences = await listOccurrencesIn(found, window, ({ timezone }) => timezone, budget, maxListedOccurrences)
  return occurrences.flatMap((one) => listedOccurrencesFor(one, { access: accessByLevel('none'), isGuest: one.event.my_status !== null }))
}
