import type { Scope } from '#shared/core/scope/scope.ts'
import { calendarAccessOf, findVisibleCalendars, isAccessAtLeast } from '#shared/features/calendar/access.ts'
import { type BusyTime, busyAsGuest, busyOnCalendars, mergeTimes } from '#shared/features/calendar/availability/busy-times.ts'
import type { FreeBusy, FreeBusyQuery } from '#shared/features/calendar/availability/schemas.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, listOwnedCalendars } from '#shared/features/calendar/calendars/store.ts'
import { listRecordBusyTimes } from '#shared/features/calendar/record-calendars/record-occurrences.ts'
import { instantText, readTimeWindow, type TimeWindow } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Ids that one list of a query may hold. */
const maxIds = 100

/** Reads comma-separated ids, without duplicates. Throws VALIDATION_ERROR for more than 100. */
function readIds(text: string | undefined, name: string): string[] {
  const ids = [...new Set((text ?? '').split(',').filter((id) => id !== ''))]
  if (ids.length > maxIds) throw problem('VALIDATION_ERROR', `${name} must hold at most ${maxIds} ids`)
  return ids
}

/** The busy times of people and calendars in a window, as far as the caller may see them. */
export async function getFreeBusy(scope: Scope, query: FreeBusyQuery): Promise<FreeBusy> {
  const window = readTimeWindow(query.from, query.to, scope.workspace.timezone)
  const [users, calendars] = [readIds(query.users, 'users'), readIds(query.calendars, 'calendars')]
  const times = await busyTimes(scope, users, calendars, window, queryBudget(scope))
  return {
    users: users.map((id) => busyView(id, times.users.get(id.toLowerCase()))),
    calendars: calendars.map((id) => busyView(id, times.calendars.get(id.toLowerCase()))),
  }
}

const busyView = (id: string, times: readonly BusyTime[] | undefined) => ({
  id,
  busy: (times ?? []).map(({ start, end }) => ({ start: instantText(start), end: instantText(end) })),
  unknown: times === undefined,
})

/** The busy times of people and calendars, by lowercase id. Ids that the caller cannot see are left out. */
export async function busyTimes(
  scope: Scope,
  users: readonly string[],
  calendars: readonly string[],
  window: TimeWindow,
  budget: ComputeBudget,
) {
  const { db, workspace, actor } = scope
  const userIds = users.filter(isUuid).map((id) => id.toLowerCase())
  const owned =
    userIds.length > 0 ? await db.query(listOwnedCalendars({ workspaceId: workspace.id, userId: actor.personId, ownerIds: userIds })) : []
  const visible = owned.filter((calendar) => isAccessAtLeast(calendarAccessOf(calendar, actor), 'busy'))
  const visibleIds = userIds.filter(
    (id) => id === actor.personId || visible.some((calendar) => calendar.is_primary && calendar.owner_id === id),
  )
  const named = [...(await findVisibleCalendars(scope, calendars)).values()].map(({ calendar }) => calendar)
  const ofUsers = visible.filter(({ owner_id }) => visibleIds.includes(owner_id ?? ''))
  const all = new Map<string, Calendar>([...ofUsers, ...named].map((calendar) => [calendar.id, calendar]))
  const onCalendars = await busyOnCalendars(scope, [...all.values()], window, budget)
  const asGuest = await busyAsGuest(scope, visibleIds, window, budget)
  const onCalendar = (id: string) => onCalendars.get(id) ?? []
  const busyOf = (id: string) => [
    ...ofUsers.filter(({ owner_id }) => owner_id === id).flatMap((calendar) => onCalendar(calendar.id)),
    ...(asGuest.get(id) ?? []),
  ]
  const records = await listRecordBusyTimes(scope, named, window)
  return {
    users: new Map(visibleIds.map((id) => [id, mergeTimes(busyOf(id), window)])),
    calendars: new Map(named.map(({ id }) => [id, mergeTimes([...onCalendar(id), ...(records.get(id) ?? [])], window)])),
  }
}
