import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf, isAccessAtLeast } from '#shared/features/calendar/access.ts'
import type { SlotsQuery } from '#shared/features/calendar/booking/schemas.ts'
import { listSlotStarts, type OpenBookingPage, requireDuration } from '#shared/features/calendar/booking/slots.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { isFlagOn } from '#shared/features/calendar/schemas.ts'
import { findMembersById } from '#shared/features/calendar/store.ts'
import { instantText, readTimeWindow } from '#shared/features/calendar/time.ts'

/** The view of a booking page for visitors. */
export async function viewBookingPage(scope: Scope, { calendar, page }: OpenBookingPage) {
  const [owner] = calendar.owner_id === null ? [] : await findMembersById(scope.db, scope.workspace.id, [calendar.owner_id])
  return {
    title: page.title || calendar.name,
    description: page.description,
    durations: [...page.durations],
    timezone: calendar.timezone,
    location: page.location,
    horizon_days: page.horizonDays,
    hours: Object.fromEntries(Object.entries(page.hours).map(([day, spans]) => [day, (spans ?? []).map((span) => [...span])])),
    owner_name: owner?.name ?? calendar.name,
    org_name: scope.workspace.name,
    color: scope.workspace.color,
  }
}

/** The times of a page that can be booked. A query with `explain` by a `reader` of the calendar gets the refused times too, with reasons. */
export async function listSlots(scope: Scope, open: OpenBookingPage, query: SlotsQuery, reader: Scope | undefined) {
  const minutes = requireDuration(open.page, query.duration)
  const starts = await listSlotStarts(scope, open, readTimeWindow(query.from, query.to, open.calendar.timezone), minutes)
  const budget = queryBudget(scope)
  const slots: string[] = []
  for (const { at, reason } of starts) {
    if (reason === undefined) slots.push(instantText(at))
    // A year of short steps has 100,000 starts.
    if (budget.isPauseDue()) await budget.pause()
  }
  if (!isFlagOn(query.explain, false) || !reader || !(await mayExplain(reader, open.calendar.id))) return { slots }
  return { slots, refused: starts.flatMap(({ at, reason }) => (reason === undefined ? [] : [{ start: instantText(at), reason }])) }
}

async function mayExplain(scope: Scope, calendarId: string): Promise<boolean> {
  const { actor, db, workspace } = scope
  const calendar = await findCalendar(db, workspace.id, actor.personId, calendarId)
  return calendar !== undefined && isAccessAtLeast(calendarAccessOf(calendar, actor), 'read')
}
