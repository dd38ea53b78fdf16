import { requirePermission } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { addWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { findRecordType, type RecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import {
  type CalendarWithAccess,
  calendarAccessOf,
  isAccessAtLeast,
  requireCalendar,
  shownLevelOf,
  visibleCalendars,
} from '#shared/features/calendar/access.ts'
import { bookingPageOf, checkBookingSettings } from '#shared/features/calendar/booking/settings.ts'
import { ensureDefaultCalendars, newCalendar, teamCalendarKey } from '#shared/features/calendar/calendars/default-calendars.ts'
import {
  type Calendar,
  deleteCalendarRow,
  deleteEventsOfCalendar,
  findCalendarByKey,
  insertCalendar,
  listCalendarRows,
  lockCalendar,
  lockCalendarForDeletion,
  updateCalendar,
} from '#shared/features/calendar/calendars/store.ts'
import { feedUrl } from '#shared/features/calendar/feeds/feed-link.ts'
import { scheduleReminderCheck } from '#shared/features/calendar/reminders/schedule.ts'
import {
  type CalendarChange,
  type CalendarInput,
  type CalendarSettings,
  type CalendarView,
  calendarSettings,
  type RecordSource,
  requireTimeZone,
  settingKeys,
} from '#shared/features/calendar/schemas.ts'
import { withMicroseconds } from '#shared/features/calendar/time.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Calendars that the caller owns, has a share of or reaches by a role; `withOthers` adds others' personal ones visible to every member. */
export async function reachableCalendars(scope: Scope, withOthers: boolean): Promise<CalendarWithAccess[]> {
  const read = () => scope.db.query(listCalendarRows({ workspaceId: scope.workspace.id, userId: scope.actor.personId, withOthers }))
  const known = await read()
  return visibleCalendars(scope, (await ensureDefaultCalendars(scope, known)) ? await read() : known)
}

/** Lists the calendars that the caller may see (docs/contract/calendar.md#calendar-list). */
export async function listCalendars(scope: Scope, withOthers: boolean): Promise<CalendarView[]> {
  return (await reachableCalendars(scope, withOthers)).map((accessed) => calendarViewOf(scope, accessed))
}

/** One calendar. Throws NOT_FOUND when the caller may not see it. */
export async function getCalendar(scope: Scope, id: string): Promise<CalendarView> {
  return calendarViewOf(scope, await requireCalendar(scope, id, 'busy'))
}

/** The id of the calendar with this key. Creates the team calendar on first use. Throws NOT_FOUND for an unknown key. */
export async function requireCalendarByKey(scope: Scope, key: string): Promise<string> {
  const find = () => firstRow(scope.db, findCalendarByKey({ workspaceId: scope.workspace.id, userId: null, key }))
  let calendar = await find()
  if (!calendar && key === teamCalendarKey && (await ensureDefaultCalendars(scope, []))) calendar = await find()
  if (!calendar) throw problem('NOT_FOUND', 'calendar_key names no calendar')
  return calendar.id
}

const reasonForKeys = 'an access key has no calendar of its own'
const reasonForOthers = 'code of one person that runs for another has no access to personal calendars'

/** The caller's main calendar, created on first use. Throws VALIDATION_ERROR for a caller without personal standing. */
export async function primaryCalendar(scope: Scope): Promise<CalendarWithAccess> {
  const { personId, isMember } = scope.actor
  if (personId === null) throw problem('VALIDATION_ERROR', `calendar_id is required: ${isMember ? reasonForOthers : reasonForKeys}`)
  const own = (await reachableCalendars(scope, false)).find(({ calendar }) => calendar.is_primary && calendar.owner_id === personId)
  if (!own) throw problem('NOT_FOUND')
  return own
}

/**
 * Creates a calendar. A personal calendar belongs to its creator; any other needs calendar:manage on its key. Throws KEY_TAKEN,
 * FORBIDDEN, VALIDATION_ERROR, and UNAUTHORIZED when an access key asks for a personal one.
 */
export async function createCalendar(scope: Scope, input: CalendarInput): Promise<CalendarView> {
  const { actor, workspace } = scope
  const { kind = 'org', name } = input
  if (kind === 'personal' && actor.personId === null) throw problem('UNAUTHORIZED', 'Only a person has personal calendars')
  const id = newId()
  const key = kind === 'personal' && input.key === undefined ? `u-${id.replaceAll('-', '')}` : readKey(input.key)
  if (kind !== 'personal') requirePermission(scope, 'calendar:manage', key)
  if (name === undefined) throw problem('VALIDATION_ERROR', 'name is required')
  if (kind === 'records' && !input.settings?.source) throw problem('VALIDATION_ERROR', 'settings.source is required for a records calendar')
  const { description = '', color = '', visibility = 'none', timezone = workspace.timezone } = input
  const settings = await mergeSettings(scope, kind, {}, input.settings ?? {})
  const owner = kind === 'personal' ? actor.personId : null
  requireTimeZone(timezone)
  const columns = { id, key, kind, name, description, color, visibility, timezone, settings, owner_id: owner }
  const calendar = await insertCalendar(scope.db, workspace.id, newCalendar(scope, columns))
  return withWarnings(calendarViewOf(scope, { calendar, access: calendarAccessOf(calendar, actor) }))
}

const keyPattern = /^[a-z0-9_-]{2,64}$/

function readKey(key: string | undefined): string {
  if (key === undefined) throw problem('VALIDATION_ERROR', 'key is required')
  if (!keyPattern.test(key)) throw problem('VALIDATION_ERROR', 'key must be 2 to 64 lowercase letters, digits, - and _')
  if (key.startsWith('u-')) throw problem('VALIDATION_ERROR', 'key must not start with u-, which is reserved')
  // Reserved for the team calendar, which may not exist yet.
  if (key === teamCalendarKey) throw problem('KEY_TAKEN')
  return key
}

/** Changes the fields that were sent. Throws NOT_FOUND, VALIDATION_ERROR, and FORBIDDEN below manage access. */
export function changeCalendar(scope: Scope, id: string, change: CalendarChange): Promise<CalendarView> {
  return scope.db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    await requireCalendar(txScope, id, 'manage')
    await tx.query(lockCalendar({ workspaceId: scope.workspace.id, id }))
    const { calendar, access } = await requireCalendar(txScope, id, 'manage')
    const { settings, ...plain } = change
    if (plain.timezone !== undefined) requireTimeZone(plain.timezone)
    const merged = settings ? await mergeSettings(txScope, calendar.kind, calendar.settings, settings) : calendar.settings
    const changed = await updateCalendar(tx, scope.workspace.id, { ...calendar, ...plain, settings: merged }, scope.now())
    if (settings?.default_reminders !== undefined) await scheduleReminderCheck(txScope, calendar.id, scope.now().getTime())
    const view = calendarViewOf(scope, { calendar: changed, access })
    return settings?.booking ? withWarnings(view) : view
  })
}

/** Adds a warning when the booking page is enabled but has no hours, so that visitors cannot book. */
function withWarnings(view: CalendarView): CalendarView {
  const { enabled, hours } = bookingPageOf(view.settings.booking)
  const hasHours = Object.values(hours).some((spans) => (spans ?? []).length > 0)
  return addWarnings(view, enabled && !hasHours ? [noHoursWarning] : [])
}

const noHoursWarning =
  'The booking page has no hours, so there is no time to book: set settings.booking.hours, such as {"mon": [["09:00", "17:00"]]}'

/** Merges settings by key; null removes a key. `booking` and `source` are replaced as a whole (docs/contract/calendar.md#settings). */
async function mergeSettings(
  scope: Scope,
  kind: Calendar['kind'],
  known: CalendarSettings,
  sent: Readonly<Record<string, unknown>>,
): Promise<CalendarSettings> {
  const merged = Object.fromEntries(Object.entries({ ...known, ...sent }).filter(([, value]) => value !== null && value !== undefined))
  const settings = calendarSettings.parse(withoutUnknownKeys(merged), 'settings')
  if (kind === 'records' && settings.booking) throw problem('VALIDATION_ERROR', 'settings.booking: a records calendar has no booking page')
  if (kind === 'records' && !settings.source) throw problem('VALIDATION_ERROR', 'settings.source is required for a records calendar')
  if (kind !== 'records' && settings.source) throw problem('VALIDATION_ERROR', 'settings.source is for records calendars only')
  if (settings.booking) checkBookingSettings(settings.booking)
  if (settings.source && sent.source) await checkRecordSource(scope, settings.source)
  return settings
}

const withoutUnknownKeys = (settings: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => settingKeys.includes(key)))

/**
 * Deletes a calendar with its events, which are announced as cancelled. Throws NOT_FOUND, and FORBIDDEN for the team calendar, a main calendar
 * or too little access.
 */
export async function deleteCalendar(scope: Scope, id: string): Promise<{ deleted: true }> {
  const { calendar } = await requireCalendar(scope, id, 'manage')
  if (calendar.is_primary || calendar.key === teamCalendarKey) throw problem('FORBIDDEN', 'This calendar cannot be deleted')
  const place = { workspaceId: scope.workspace.id, id: calendar.id }
  await scope.db.transaction(async (tx) => {
    requireRow(await tx.query(lockCalendarForDeletion(place)))
    await tx.query(deleteEventsOfCalendar({ ...place, cause: JSON.stringify(scope.cause) }))
    await tx.query(deleteCalendarRow(place))
    wakeNumbering(within(scope, tx), 'soon')
  })
  return { deleted: true }
}

/** The answer's shape of a calendar. The subscription link is included for callers with manage access. */
export function calendarViewOf(scope: Scope, { calendar, access }: CalendarWithAccess): CalendarView {
  const { id, key, name, description, color, kind, visibility, timezone, settings } = calendar
  const link = isAccessAtLeast(access, 'manage') ? feedUrl(scope, calendar) : undefined
  return {
    id,
    key,
    name,
    description,
    color,
    kind,
    primary: calendar.is_primary,
    visibility,
    timezone,
    access: shownLevelOf(access),
    settings,
    booking_url: kind === 'records' ? '' : `${scope.config.publicUrl}/book/${scope.workspace.id}/${key}`,
    ...(link === undefined ? {} : { feed_url: link }),
    created_at: withMicroseconds(calendar.created_at),
    updated_at: withMicroseconds(calendar.updated_at),
  }
}

/** Throws VALIDATION_ERROR unless the source names a record type, a date or datetime field, an end of the same type and a title field. */
async function checkRecordSource(scope: Scope, { type_key, start_field, end_field, title_field }: RecordSource): Promise<void> {
  const type = await findRecordType(scope, type_key)
  if (!type) throw await unknownTypeProblem(scope, 'settings.source.type_key', type_key)
  const start = requireField(type, 'start_field', start_field)
  if (start.type !== 'date' && start.type !== 'datetime')
    throw problem('VALIDATION_ERROR', 'settings.source.start_field must be a date or datetime field')
  if (end_field && requireField(type, 'end_field', end_field).type !== start.type)
    throw problem('VALIDATION_ERROR', 'settings.source.end_field must be of the type of start_field')
  if (title_field) requireField(type, 'title_field', title_field)
}

function requireField(type: RecordType, name: string, key: string) {
  const field = type.fieldByKey.get(key)
  if (!field) throw problem('VALIDATION_ERROR', `settings.source.${name} must be the key of a field of ${type.key}`)
  return field
}
