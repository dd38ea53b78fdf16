import { type Calendar, findCalendar, findCalendarsById } from '#shared/calendar/calendars-store.ts'
import { type Access, accesses } from '#shared/calendar/schemas.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import type { Permission } from '#shared/policy/permissions.ts'
import { permits } from '#shared/scope/access.ts'
import type { Actor } from '#shared/scope/actor.ts'
import type { Scope } from '#shared/scope/scope.ts'

const rank = (access: Access): number => accesses.indexOf(access)

/** Whether an access is this one or more. */
export const atLeast = (access: Access, needed: Access): boolean => rank(access) >= rank(needed)

const most = (granted: readonly Access[]): Access => granted.reduce((best, access) => (rank(access) > rank(best) ? access : best), 'none')

/** What a calendar says of who may do what. */
export type Guarded = Pick<Calendar, 'kind' | 'owner_id' | 'key' | 'visibility' | 'share'>

const granting: readonly (readonly [Permission, Access])[] = [
  ['calendar:manage', 'manage'],
  ['calendar:write', 'write'],
  ['calendar:read', 'read'],
]

/**
 * What a caller may do with a calendar: the most of what ownership, shares, visibility and, but for personal calendars, roles grant. No
 * role reaches a personal calendar, the workspace's owner neither; an access key knows nothing but roles (document 3, Access key limits). An
 * actor without personal standing owns no calendar, and nothing is shared with it.
 */
export function accessTo(calendar: Guarded, actor: Pick<Actor, 'type' | 'personId' | 'isMember' | 'policy'>): Access {
  if (actor.type === 'system') return 'manage'
  if (actor.personId !== null && calendar.owner_id === actor.personId) return 'owner'
  const shared = (actor.personId === null ? null : calendar.share) ?? 'none'
  const asMember: Access[] = actor.isMember ? [calendar.visibility, shared] : []
  if (calendar.kind === 'personal') return most(asMember)
  const byRole = granting.filter(([permission]) => permits({ actor }, permission, calendar.key)).map(([, access]) => access)
  return most([...asMember, ...byRole])
}

/** A calendar with the caller's access to it. */
export interface Accessed {
  readonly calendar: Calendar
  readonly access: Access
}

/** A calendar that the caller may see, and may do as much with. Throws NOT_FOUND for one that it cannot see, FORBIDDEN for too little. */
export async function requireCalendar(scope: Scope, id: string, needed: Access): Promise<Accessed> {
  const calendar = isUuid(id) ? await findCalendar(scope.db, scope.workspace.id, scope.actor.personId, id) : undefined
  const access = calendar ? accessTo(calendar, scope.actor) : 'none'
  if (!calendar || access === 'none') throw problem('NOT_FOUND')
  requireAccess(access, needed, calendar)
  return { calendar, access }
}

/** Throws FORBIDDEN when a caller that sees the calendar may do less with it than it needs to. */
export function requireAccess(access: Access, needed: Access, calendar: Pick<Calendar, 'key' | 'kind'>): void {
  if (!atLeast(access, needed)) throw problem('FORBIDDEN', `Needs ${wayTo(needed, calendar)}`)
}

/** What gives an access: a permission on the calendar's key or a share, of a personal calendar a share alone. */
function wayTo(needed: Access, { key, kind }: Pick<Calendar, 'key' | 'kind'>): string {
  const permission = granting.findLast(([, access]) => atLeast(access, needed))?.[0]
  const share = `a share of the calendar ${key} with level ${needed}`
  return kind === 'personal' || permission === undefined ? share : `${permission} on ${key}, or ${share}`
}

/** Calendars that the caller may see, by their ids. Throws NOT_FOUND when one of them is none of those. */
export async function requireCalendars(scope: Scope, ids: readonly string[]): Promise<Accessed[]> {
  const known = await accessCalendars(scope, ids)
  const missing = ids.find((id) => !known.has(id.toLowerCase()))
  if (missing !== undefined) throw problem('NOT_FOUND')
  return [...known.values()]
}

/** Those of some calendars that the caller may see, by id. */
export async function accessCalendars(scope: Scope, ids: readonly string[]): Promise<Map<string, Accessed>> {
  const wellFormed = ids.filter(isUuid).map((id) => id.toLowerCase())
  const calendars = wellFormed.length > 0 ? await findCalendarsById(scope.db, scope.workspace.id, scope.actor.personId, wellFormed) : []
  return new Map(visible(scope, calendars).map((accessed) => [accessed.calendar.id, accessed]))
}

/** Those of some calendars that the caller may see at all. */
export const visible = ({ actor }: Scope, calendars: readonly Calendar[]): Accessed[] =>
  calendars.map((calendar) => ({ calendar, access: accessTo(calendar, actor) })).filter(({ access }) => access !== 'none')
