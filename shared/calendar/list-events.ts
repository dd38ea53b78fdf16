import { type Accessed, requireCalendars } from '#shared/calendar/access.ts'
import { questionBudget } from '#shared/calendar/budget.ts'
import { reachableCalendars } from '#shared/calendar/calendars.ts'
import { isOn, type ListQuery, type Occurrence } from '#shared/calendar/event-schemas.ts'
import { type ListedEvent, listEventsInWindow, listInvitedInWindow } from '#shared/calendar/events-store.ts'
import { daysOf, happensIn, type ListWindow } from '#shared/calendar/occurrences.ts'
import { recordOccurrences } from '#shared/calendar/record-occurrences.ts'
import { type Shown, shownTo } from '#shared/calendar/shown.ts'
import { readWindow } from '#shared/calendar/time.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Occurrences that a listing gives at most (document 3, Limits). */
export const mostOccurrences = 2_000

/** The occurrences in a window of what the caller may see, by their start (document 3, Event rules). */
export async function listEvents(scope: Scope, query: ListQuery): Promise<{ events: Occurrence[] }> {
  const window: ListWindow = { ...readWindow(query.from, query.to, scope.workspace.timezone), ...days(query) }
  const ids = query.calendars === undefined ? undefined : query.calendars.split(',').filter((id) => id !== '')
  const calendars = ids === undefined ? await reachableCalendars(scope, false) : await requireCalendars(scope, ids)
  // Whoever names calendars asks for those alone, unless it says otherwise.
  const withInvites = isOn(query.invites) && (ids === undefined || query.invites !== undefined)
  const kept = calendars.filter(({ calendar }) => calendar.kind !== 'records')
  const budget = questionBudget(scope)
  const own = await ownEvents(scope, kept, window, budget)
  const invited = withInvites ? await invitedEvents(scope, kept, window, budget) : []
  const ofRecords = await recordOccurrences(scope, calendars, window, mostOccurrences)
  const events = [...own, ...invited, ...ofRecords].sort((a, b) => a.from - b.from || (a.shown.event_id < b.shown.event_id ? -1 : 1))
  return { events: events.slice(0, mostOccurrences).map(({ shown }) => shown) }
}

function days({ from, to }: ListQuery): Pick<ListWindow, 'days'> {
  const window = daysOf(from, to)
  return window ? { days: window } : {}
}

const dates = ({ from, to, days }: ListWindow) => ({
  from: new Date(Math.min(from, days?.from ?? from)),
  to: new Date(Math.max(to, days?.to ?? to)),
})

async function ownEvents(scope: Scope, calendars: readonly Accessed[], window: ListWindow, budget: ComputeBudget): Promise<Shown[]> {
  const byId = new Map(calendars.map((accessed) => [accessed.calendar.id, accessed]))
  const found = await listEventsInWindow(scope.db, scope.workspace.id, [...byId.keys()], dates(window), scope.actor.personId)
  const zoneOf = (event: ListedEvent) => byId.get(event.calendar_id)?.calendar.timezone ?? event.timezone
  return (await happensIn(found, window, zoneOf, budget, mostOccurrences)).flatMap((happens) => {
    const access = byId.get(happens.event.calendar_id)?.access ?? 'none'
    return shownTo(happens, { access, isGuest: happens.event.my_status !== null })
  })
}

async function invitedEvents(scope: Scope, calendars: readonly Accessed[], window: ListWindow, budget: ComputeBudget): Promise<Shown[]> {
  const { actor, db, workspace } = scope
  if (actor.personId === null) return []
  const except = calendars.map(({ calendar }) => calendar.id)
  const found = await listInvitedInWindow(db, workspace.id, except, dates(window), actor.personId)
  const happens = await happensIn(found, window, ({ timezone }) => timezone, budget, mostOccurrences)
  return happens.flatMap((one) => shownTo(one, { access: 'none', isGuest: one.event.my_status !== null }))
}
