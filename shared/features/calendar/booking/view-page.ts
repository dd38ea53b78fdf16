import type { Scope } from '#shared/core/scope/scope.ts'
import { findVisibleCalendars, isAccessAtLeast } from '#shared/features/calendar/access.ts'
import type { SlotsQuery } from '#shared/features/calendar/booking/schemas.ts'
import { listSlotStarts, type OpenBookingPage, requireDuration, type SlotStart } from '#shared/features/calendar/booking/slots.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
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
  const explain = isFlagOn(query.explain, false) && reader && (await explainerFor(reader, open, starts))
  if (!explain) return { slots }
  return { slots, refused: starts.flatMap((start) => (start.reason ? [{ start: instantText(start.at), reason: explain(start) }] : [])) }
}

/**
 * Puts reasons into words for a reader of the page's calendar; undefined for anybody else. The owner's other calendars and the events on them
 * are named only as far as the reader sees them.
 */
async function explainerFor(
  reader: Scope,
  { calendar }: OpenBookingPage,
  starts: readonly SlotStart[],
): Promise<((start: SlotStart) => string) | undefined> {
  const ids = new Set([calendar.id, ...starts.flatMap(({ event }) => event?.calendar_id ?? [])])
  const seen = await findVisibleCalendars(reader, [...ids])
  const reads = (id: string) => {
    const found = seen.get(id)
    return found !== undefined && isAccessAtLeast(found.access, 'read')
  }
  if (!reads(calendar.id)) return undefined
  return ({ reason = '', event }) => {
    if (!event) return reason
    const isNamed = reason === 'busy' ? seen.has(event.calendar_id) : reads(event.calendar_id)
    return isNamed ? `${reason}:${reason === 'busy' ? event.calendar_id : event.id}` : reason
  }
}
