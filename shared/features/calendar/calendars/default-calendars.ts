import type { Scope } from '#shared/core/scope/scope.ts'
import { type Calendar, insertCalendarOnce, type NewCalendar } from '#shared/features/calendar/calendars/store.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Key of every workspace's team calendar. */
export const teamCalendarKey = 'team'

/** Key of a person's main calendar. The prefix `u-` is reserved: callers cannot choose it. */
const primaryCalendarKey = (userId: string): string => `u-${userId.replaceAll('-', '')}`

type KnownCalendar = Pick<Calendar, 'owner_id' | 'is_primary' | 'key'>

/**
 * Creates the team calendar and the caller's main one unless `known` holds them: both are created on first use
 * (docs/contract/calendar.md#default-calendars). Returns whether one was missing.
 */
export async function ensureDefaultCalendars(scope: Scope, known: readonly KnownCalendar[]): Promise<boolean> {
  const { actor, db, workspace } = scope
  const missing: NewCalendar[] = []
  if (!known.some(({ key }) => key === teamCalendarKey))
    missing.push(newCalendar(scope, { key: teamCalendarKey, kind: 'org', name: 'Team' }))
  const person = actor.personId
  if (person !== null && !known.some(({ is_primary, owner_id }) => is_primary && owner_id === person)) {
    const name = actor.name || 'Calendar'
    missing.push(
      newCalendar(scope, {
        key: primaryCalendarKey(person),
        kind: 'personal',
        name: cutText(name, 120),
        owner_id: person,
        is_primary: true,
      }),
    )
  }
  for (const calendar of missing) await insertCalendarOnce(db, workspace.id, calendar)
  return missing.length > 0
}

/** The columns of a new calendar: the given ones, and defaults for the others. */
export const newCalendar = (
  { workspace }: Scope,
  columns: Pick<NewCalendar, 'key' | 'kind' | 'name'> & Partial<NewCalendar>,
): NewCalendar => ({
  id: newId(),
  owner_id: null,
  is_primary: false,
  description: '',
  color: '',
  visibility: 'none',
  timezone: workspace.timezone,
  settings: {},
  ...columns,
})
