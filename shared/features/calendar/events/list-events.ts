import type { Scope } from '#shared/core/scope/scope.ts'
import { type Accessed, requireCalendars } from '#shared/features/calendar/access.ts'
import { questionBudget } from '#shared/features/calendar/budget.ts'
import { reachableCalendars } from '#shared/features/calendar/calendars/calendars.ts'
import { type Shown, shownTo } from '#shared/features/calendar/events/listed-occurrence.ts'
import { isOn, type ListQuery, type Occurrence } from '#shared/features/calendar/events/schemas.ts'
import { type ListedEvent, listEventsInWindow, listInvitedInWindow } from '#shared/features/calendar/events/store.ts'
import { recordOccurrences } from '#shared/features/calendar/record-calendars/record-occurrences.ts'
import { daysOf, happensIn, type ListWindow } from '#shared/features/calendar/series/occurrences.ts'
import { readWindow } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Upper bound of a list's occurrences (document 3, Limits). */
export const mostOccurrences = 2_000

/** Lists the occurrences in a window that the caller may see, ordered by start (document 3, Event rules). */
export async function listEvents(scope: Scope, query: ListQuery): Promise<{ events: Occurrence[] }> {
  const window: ListWindow = { ...readWindow(query.from, query.to, scope.workspace.timezone), ...dayWindow(query) }
  const ids = query.calendars === undefined ? undefined : query.calendars.split(',').filter((id) => id !== '')
  const calendars = ids === undefined ? await reachableCalendars(scope, false) : await requireCalendars(scope, ids)
  // A request that names calendars gets invitations only if it sends `invites`.
  const withInvites = isOn(query.invites) && (ids === undefined || query.invites !== undefined)
  const eventCalendars = calendars.filter(({ calendar }) => calendar.kind !== 'records')
  const budget = questionBudget(scope)
  const own = await ownEvents(scope, eventCalendars, window, budget)
  const invited = withInvites ? await invitedEvents(scope, eventCalendars, window, budget) : []
  const ofRecords = await recordOccurrences(scope, calendars, window, mostOccurrences)
  const events = [...own, ...invited, ...ofRecords].sort((a, b) => a.from - b.from || (a.shown.event_id < b.shown.event_id ? -1 : 1))
  return { events: events.slice(0, mostOccurrences).map(({ shown }) => shown) }
}

function dayWindow({ from, to }: ListQuery): Pick<ListWindow, 'days'> {
  const window = daysOf(from, to)
  return window ? { days: window } : {}
}

const instantsToRead = ({ from, to, days }: ListWindow) => ({
  from: new Date(Math.min(from, days?.from ?? from)),
  to: new Date(Math.max(to, days?.to ?? to)),
})

async function ownEvents(scope: Scope, calendars: readonly Accessed[], window: ListWindow, budget: ComputeBudget): Promise<Shown[]> {
  const byId = new Map(calendars.map((accessed) => [accessed.calendar.id, accessed]))
  const found = await listEventsInWindow(scope.db, scope.workspace.id, [...byId.keys()], instantsToRead(window), scope.actor.personId)
  const zoneOf = (event: ListedEvent) => byId.get(event.calendar_id)?.calendar.timezone ?? event.timezone
  return (await happensIn(found, window, zoneOf, budget, mostOccurrences)).flatMap((found) => {
    const access = byId.get(found.event.calendar_id)?.access ?? 'none'
    return shownTo(found, { access, isGuest: found.event.my_status !== null })
  })
}

async function invitedEvents(scope: Scope, calendars: readonly Accessed[], window: ListWindow, budget: ComputeBudget): Promise<Shown[]> {
  const { actor, db, workspace } = scope
  if (actor.personId === null) return []
  const excludedIds = calendars.map(({ calendar }) => calendar.id)
  const found = await listInvitedInWindow(db, workspace.id, excludedIds, instantsToRead(window), actor.personId)
  const occurrences = await happensIn(found, window, ({ timezone }) => timezone, budget, mostOccurrences)
  return occurrences.flatMap((one) => shownTo(one, { access: 'none', isGuest: one.event.my_status !== null }))
}
