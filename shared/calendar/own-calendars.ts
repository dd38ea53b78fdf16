import { type Calendar, insertCalendarOnce, type NewCalendar } from '#shared/calendar/calendars-store.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The key of every workspace's team calendar. */
export const teamKey = 'team'

/** The key of a person's main calendar: keys that start with `u-` belong to the house. */
export const primaryKey = (userId: string): string => `u-${userId.replaceAll('-', '')}`

type Own = Pick<Calendar, 'owner_id' | 'is_primary' | 'key'>

/**
 * Makes the team calendar and the caller's main one where they are not among `known`: they are made when they are first needed (decisions,
 * Drive). Says whether any was missing.
 */
export async function makeOwnCalendars(scope: Scope, known: readonly Own[]): Promise<boolean> {
  const { actor, db, workspace } = scope
  const missing: NewCalendar[] = []
  if (!known.some(({ key }) => key === teamKey)) missing.push(made(scope, { key: teamKey, kind: 'org', name: 'Team' }))
  const person = actor.personId
  if (person !== null && !known.some((one) => one.is_primary && one.owner_id === person)) {
    const name = actor.name || 'Calendar'
    missing.push(made(scope, { key: primaryKey(person), kind: 'personal', name: name.slice(0, 120), owner_id: person, is_primary: true }))
  }
  for (const calendar of missing) await insertCalendarOnce(db, workspace.id, calendar)
  return missing.length > 0
}

/** A new calendar of what is said of it. */
export const made = ({ workspace }: Scope, said: Pick<NewCalendar, 'key' | 'kind' | 'name'> & Partial<NewCalendar>): NewCalendar => ({
  id: newId(),
  owner_id: null,
  is_primary: false,
  description: '',
  color: '',
  visibility: 'none',
  timezone: workspace.timezone,
  settings: {},
  ...said,
})
