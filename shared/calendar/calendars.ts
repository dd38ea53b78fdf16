import { type Accessed, atLeast, requireCalendar, visible } from '#shared/calendar/access.ts'
import { bookingPage, checkBooking } from '#shared/calendar/booking/settings.ts'
import {
  type Calendar,
  deleteCalendarRow,
  findCalendarByKey,
  insertCalendar,
  listCalendarRows,
  lockCalendar,
  updateCalendar,
} from '#shared/calendar/calendars-store.ts'
import { feedUrl } from '#shared/calendar/feed-link.ts'
import { made, makeOwnCalendars, teamKey } from '#shared/calendar/own-calendars.ts'
import { checkSource } from '#shared/calendar/record-source.ts'
import {
  type CalendarChange,
  type CalendarInput,
  type CalendarSettings,
  type CalendarView,
  calendarSettings,
  requireZone,
  settingKeys,
} from '#shared/calendar/schemas.ts'
import { lookAt } from '#shared/calendar/signals.ts'
import { sixDigits } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { requirePermission } from '#shared/scope/access.ts'
import { type Scope, within } from '#shared/scope/scope.ts'
import { warned } from '#shared/scope/visitors.ts'

/** The caller's own calendars, those shared with it and those that its roles reach; with `all` what others let every member see, too. */
export async function reachableCalendars(scope: Scope, withOthers: boolean): Promise<Accessed[]> {
  const read = () => listCalendarRows(scope.db, scope.workspace.id, scope.actor.personId, withOthers)
  const known = await read()
  return visible(scope, (await makeOwnCalendars(scope, known)) ? await read() : known)
}

/** The calendars that the caller sees (document 3, Calendars and events). */
export async function listCalendars(scope: Scope, withOthers: boolean): Promise<CalendarView[]> {
  return (await reachableCalendars(scope, withOthers)).map((accessed) => viewOf(scope, accessed))
}

/** One calendar; throws NOT_FOUND when the caller does not see it. */
export async function getCalendar(scope: Scope, id: string): Promise<CalendarView> {
  return viewOf(scope, await requireCalendar(scope, id, 'busy'))
}

/** The id of a calendar by its key; the team calendar is made when it is first needed. Throws NOT_FOUND where there is none. */
export async function requireCalendarByKey(scope: Scope, key: string): Promise<string> {
  const find = () => findCalendarByKey(scope.db, scope.workspace.id, key)
  let calendar = await find()
  if (!calendar && key === teamKey && (await makeOwnCalendars(scope, []))) calendar = await find()
  if (!calendar) throw problem('NOT_FOUND', 'calendar_key names no calendar')
  return calendar.id
}

const noneOfKeys = 'an access key has no calendar of its own'
const noneForOthers = 'work of one person that runs for another reaches no personal calendar'

/** The caller's main calendar, which is made when it is first needed. Throws VALIDATION_ERROR for a caller that has none. */
export async function primaryCalendar(scope: Scope): Promise<Accessed> {
  const { personId, isMember } = scope.actor
  if (personId === null) throw problem('VALIDATION_ERROR', `calendar_id is required: ${isMember ? noneForOthers : noneOfKeys}`)
  const own = (await reachableCalendars(scope, false)).find(({ calendar }) => calendar.is_primary && calendar.owner_id === personId)
  if (!own) throw problem('NOT_FOUND')
  return own
}

/**
 * Makes a calendar. A personal one belongs to the person that makes it; any other needs calendar:manage on its key. Throws KEY_TAKEN, and
 * UNAUTHORIZED for an access key that would have a personal one.
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
  const settings = await mergedSettings(scope, kind, {}, input.settings ?? {})
  const owner = kind === 'personal' ? actor.personId : null
  requireZone(timezone)
  const said = { id, key, kind, name, description, color, visibility, timezone, settings, owner_id: owner }
  const calendar = await insertCalendar(scope.db, workspace.id, made(scope, said))
  return withWarnings(viewOf(scope, { calendar, access: owner === null ? 'manage' : 'owner' }))
}

const keyForm = /^[a-z0-9_-]{2,64}$/

function readKey(key: string | undefined): string {
  if (key === undefined) throw problem('VALIDATION_ERROR', 'key is required')
  if (!keyForm.test(key)) throw problem('VALIDATION_ERROR', 'key must be 2 to 64 lowercase letters, digits, - and _')
  if (key.startsWith('u-')) throw problem('VALIDATION_ERROR', 'key must not start with u-, which is reserved')
  // It would stand in the way of every workspace's own.
  if (key === teamKey) throw problem('KEY_TAKEN')
  return key
}

/** Changes what was sent of a calendar. Throws NOT_FOUND, FORBIDDEN below manage. */
export function changeCalendar(scope: Scope, id: string, change: CalendarChange): Promise<CalendarView> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    await requireCalendar(inside, id, 'manage')
    await lockCalendar(tx, scope.workspace.id, id)
    const { calendar, access } = await requireCalendar(inside, id, 'manage')
    const { settings, ...plain } = change
    if (plain.timezone !== undefined) requireZone(plain.timezone)
    const merged = settings ? await mergedSettings(inside, calendar.kind, calendar.settings, settings) : calendar.settings
    const changed = await updateCalendar(tx, scope.workspace.id, { ...calendar, ...plain, settings: merged }, scope.now())
    if (settings?.default_reminders !== undefined) await lookAt(inside, calendar.id, scope.now().getTime())
    const view = viewOf(scope, { calendar: changed, access })
    return settings?.booking ? withWarnings(view) : view
  })
}

/** A calendar whose booking page was switched on; one without hours has no time that visitors could book. */
function withWarnings(view: CalendarView): CalendarView {
  const { enabled, hours } = bookingPage(view.settings.booking)
  const hasHours = Object.values(hours).some((spans) => (spans ?? []).length > 0)
  return warned(view, enabled && !hasHours ? [noHours] : [])
}

const noHours =
  'The booking page has no hours, so there is no time to book: set settings.booking.hours, such as {"mon": [["09:00", "17:00"]]}'

/** Settings merge by their keys, null removes one; `booking` and `source` are replaced whole (decisions, Calendar). */
async function mergedSettings(
  scope: Scope,
  kind: Calendar['kind'],
  known: CalendarSettings,
  sent: Readonly<Record<string, unknown>>,
): Promise<CalendarSettings> {
  const merged = Object.fromEntries(Object.entries({ ...known, ...sent }).filter(([, value]) => value !== null && value !== undefined))
  const settings = calendarSettings.parse(onlyKnown(merged), 'settings')
  if (kind === 'records' && settings.booking) throw problem('VALIDATION_ERROR', 'settings.booking: a records calendar has no booking page')
  if (kind === 'records' && !settings.source) throw problem('VALIDATION_ERROR', 'settings.source is required for a records calendar')
  if (kind !== 'records' && settings.source) throw problem('VALIDATION_ERROR', 'settings.source is for records calendars alone')
  if (settings.booking) checkBooking(settings.booking)
  if (settings.source && sent.source) await checkSource(scope, settings.source)
  return settings
}

const onlyKnown = (settings: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => settingKeys.includes(key)))

/** Deletes a calendar with its events. The team calendar and main ones stay: FORBIDDEN. */
export async function deleteCalendar(scope: Scope, id: string): Promise<{ deleted: true }> {
  const { calendar } = await requireCalendar(scope, id, 'manage')
  if (calendar.is_primary || calendar.key === teamKey) throw problem('FORBIDDEN', 'This calendar cannot be deleted')
  if (!(await deleteCalendarRow(scope.db, scope.workspace.id, calendar.id))) throw problem('NOT_FOUND')
  return { deleted: true }
}

/** A calendar as the caller sees it: the subscription link is for those who manage it. */
export function viewOf(scope: Scope, { calendar, access }: Accessed): CalendarView {
  const { id, key, name, description, color, kind, visibility, timezone, settings } = calendar
  const link = atLeast(access, 'manage') ? feedUrl(scope, calendar) : undefined
  return {
    ...{ id, key, name, description, color, kind, primary: calendar.is_primary, visibility, timezone, access, settings },
    booking_url: kind === 'records' ? '' : `${scope.config.publicUrl}/book/${scope.workspace.id}/${key}`,
    ...(link === undefined ? {} : { feed_url: link }),
    created_at: sixDigits(calendar.created_at),
    updated_at: sixDigits(calendar.updated_at),
  }
}
