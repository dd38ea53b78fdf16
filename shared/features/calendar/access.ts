import type { Permission } from '#shared/core/policy/permissions.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Actor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type Calendar, findCalendar, findCalendarsById } from '#shared/features/calendar/calendars/store.ts'
import { accessLevels, type CalendarAccess } from '#shared/features/calendar/schemas.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

const rank = (access: CalendarAccess): number => accessLevels.indexOf(access)

/** A caller's access to a calendar: a level with those below it, except the levels that a deny rule refuses. */
export interface Access {
  readonly level: CalendarAccess
  readonly denied: readonly CalendarAccess[]
}

/** Access by a level alone. */
export const accessByLevel = (level: CalendarAccess): Access => ({ level, denied: [] })

/** Whether an access includes the needed level. */
export const isAccessAtLeast = ({ level, denied }: Access, needed: CalendarAccess): boolean =>
  rank(level) >= rank(needed) && !denied.includes(needed)

/** The level that callers are shown: the highest one that is held with all below it. */
export const shownLevelOf = (access: Access): CalendarAccess =>
  accessLevels.findLast((level) => accessLevels.slice(0, rank(level) + 1).every((lower) => isAccessAtLeast(access, lower))) ?? 'none'

const highest = (granted: readonly CalendarAccess[]): CalendarAccess =>
  granted.reduce((best, access) => (rank(access) > rank(best) ? access : best), 'none')

/** Columns of a calendar that decide who may do what. */
type CalendarGrants = Pick<Calendar, 'kind' | 'owner_id' | 'key' | 'visibility' | 'share'>

const permissionAccess: readonly (readonly [Permission, CalendarAccess])[] = [
  ['calendar:manage', 'manage'],
  ['calendar:write', 'write'],
  ['calendar:read', 'read'],
]

/**
 * The caller's access to a calendar: the highest level that ownership, a share, visibility or a role grants. Roles, also the workspace
 * owner's, do not apply to personal calendars. An access key has roles only (docs/contract/calendar.md#access-levels). An actor without
 * personal standing owns no calendar and has no shares. A deny rule also refuses its level to holders of a higher one and of a share, but
 * not below the calendar's visibility, which is a floor for every member.
 */
export function calendarAccessOf(calendar: CalendarGrants, actor: Pick<Actor, 'type' | 'personId' | 'isMember' | 'policy'>): Access {
  if (actor.type === 'system') return accessByLevel('manage')
  if (actor.personId !== null && calendar.owner_id === actor.personId) return accessByLevel('owner')
  const shared = (actor.personId === null ? null : calendar.share) ?? 'none'
  const floor = actor.isMember ? calendar.visibility : 'none'
  const asMember = highest(actor.isMember ? [floor, shared] : [])
  if (calendar.kind === 'personal') return accessByLevel(asMember)
  const byRole = permissionAccess.filter(([permission]) => permits({ actor }, permission, calendar.key))
  const denied = permissionAccess.filter(
    ([permission, level]) => rank(level) > rank(floor) && actor.policy.denies(permission, calendar.key),
  )
  return { level: highest([asMember, ...byRole.map(([, level]) => level)]), denied: denied.map(([, level]) => level) }
}

/** A calendar with the caller's access to it. */
export interface CalendarWithAccess {
  readonly calendar: Calendar
  readonly access: Access
}

/** A calendar and the caller's access to it. Throws NOT_FOUND when the caller cannot see it, FORBIDDEN when the access lacks the level. */
export async function requireCalendar(scope: Scope, id: string, needed: CalendarAccess): Promise<CalendarWithAccess> {
  const calendar = isUuid(id)
    ? await firstRow(scope.db, findCalendar({ workspaceId: scope.workspace.id, userId: scope.actor.personId, id }))
    : undefined
  const access = calendar && calendarAccessOf(calendar, scope.actor)
  if (!calendar || !access || access.level === 'none') throw problem('NOT_FOUND')
  requireAccess(access, needed, calendar)
  return { calendar, access }
}

/** Throws FORBIDDEN when the caller's access lacks the needed level. The caller must be known to see the calendar. */
export function requireAccess(access: Access, needed: CalendarAccess, calendar: Pick<Calendar, 'key' | 'kind'>): void {
  if (!isAccessAtLeast(access, needed)) throw problem('FORBIDDEN', `Needs ${grantsInWords(needed, calendar)}`)
}

/** Names the grants that give an access level: a permission on the calendar's key or a share; only a share for a personal calendar. */
function grantsInWords(needed: CalendarAccess, { key, kind }: Pick<Calendar, 'key' | 'kind'>): string {
  const permission = permissionAccess.findLast(([, level]) => rank(level) >= rank(needed))?.[0]
  const share = `a share of the calendar ${key} with level ${needed}`
  return kind === 'personal' || permission === undefined ? share : `${permission} on ${key}, or ${share}`
}

/** The calendars with these ids. Throws NOT_FOUND when the caller cannot see one of them. */
export async function requireCalendars(scope: Scope, ids: readonly string[]): Promise<CalendarWithAccess[]> {
  const known = await findVisibleCalendars(scope, ids)
  const missing = ids.find((id) => !known.has(id.toLowerCase()))
  if (missing !== undefined) throw problem('NOT_FOUND')
  return [...known.values()]
}

/** The calendars with these ids that the caller may see, as a map by id. Unknown ids are left out. */
export async function findVisibleCalendars(scope: Scope, ids: readonly string[]): Promise<Map<string, CalendarWithAccess>> {
  const wellFormed = ids.filter(isUuid).map((id) => id.toLowerCase())
  const calendars =
    wellFormed.length > 0
      ? await scope.db.query(findCalendarsById({ workspaceId: scope.workspace.id, userId: scope.actor.personId, ids: wellFormed }))
      : []
  return new Map(visibleCalendars(scope, calendars).map((accessed) => [accessed.calendar.id, accessed]))
}

/** The calendars that the caller may see, with its access to each. */
export const visibleCalendars = ({ actor }: Scope, calendars: readonly Calendar[]): CalendarWithAccess[] =>
  calendars.map((calendar) => ({ calendar, access: calendarAccessOf(calendar, actor) })).filter(({ access }) => access.level !== 'none')
