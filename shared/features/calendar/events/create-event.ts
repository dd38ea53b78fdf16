import { getRecord } from '#shared/core/records/read.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type CalendarWithAccess, requireCalendar } from '#shared/features/calendar/access.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import { type OverlapCheck, requireNoOverlap, runWithOverlapCheck } from '#shared/features/calendar/availability/overlap.ts'
import { primaryCalendar } from '#shared/features/calendar/calendars/calendars.ts'
import { eventTimeColumns, readEventTime } from '#shared/features/calendar/event-time.ts'
import { applyDetails } from '#shared/features/calendar/events/apply-change.ts'
import { withExtent } from '#shared/features/calendar/events/event.ts'
import { eventViewOf, requireVisibleEvent } from '#shared/features/calendar/events/read-event.ts'
import type { EventInput, EventView } from '#shared/features/calendar/events/schemas.ts'
import { type EventRow, findEventByDeduplicationKey, insertEvents } from '#shared/features/calendar/events/store.ts'
import { guestMessages } from '#shared/features/calendar/guests/guest-messages.ts'
import { newAttendee, readGuests } from '#shared/features/calendar/guests/guests.ts'
import { informGuests } from '#shared/features/calendar/guests/inform-guests.ts'
import { type Attendee, insertAttendees } from '#shared/features/calendar/guests/store.ts'
import { scheduleReminders } from '#shared/features/calendar/reminders/schedule.ts'
import { zoneRelease } from '#shared/features/calendar/time.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Origin of an event, stored with it. */
interface EventOrigin {
  /** Makes creation idempotent: a second call with the same key returns the existing event. */
  readonly deduplicationKey?: string
  /** Default: `manual`. */
  readonly source?: 'manual' | 'flow' | 'function'
}

/**
 * Creates an event, by default on the caller's main calendar, and mails its guests unless `notify` is false
 * (docs/contract/calendar.md#creating-events). Used by the route, the SDK and `action.create_event`. Throws NOT_FOUND, FORBIDDEN,
 * VALIDATION_ERROR, SLOT_TAKEN.
 */
export function createEvent(
  scope: Scope,
  input: EventInput,
  { deduplicationKey, source = 'manual' }: EventOrigin = {},
): Promise<EventView> {
  return runWithOverlapCheck(scope, async (txScope, checked) => {
    const known =
      deduplicationKey === undefined
        ? undefined
        : await firstRow(txScope.db, findEventByDeduplicationKey({ workspaceId: scope.workspace.id, deduplicationKey }))
    if (known) return eventViewOf(await requireVisibleEvent(txScope, known))
    const accessed = await requireWritableCalendar(txScope, input.calendar_id)
    const row = newEventRow(txScope, accessed, input, source, deduplicationKey ?? null)
    await requireLinkedRecord(txScope, row)
    const guests = await readGuests(txScope, input.attendees ?? [])
    return eventViewOf({
      event: row,
      ...accessed,
      guests: await writeNewEvent(txScope, accessed, row, guests, input.notify ?? true, checked),
    })
  })
}

/**
 * The calendar of a new event: the caller's main one without `id`. Throws NOT_FOUND, FORBIDDEN below write access, and VALIDATION_ERROR
 * for a records calendar.
 */
export async function requireWritableCalendar(scope: Scope, id: string | undefined): Promise<CalendarWithAccess> {
  const accessed = id === undefined ? await primaryCalendar(scope) : await requireCalendar(scope, id, 'write')
  if (accessed.calendar.kind === 'records')
    throw problem('VALIDATION_ERROR', 'calendar_id must not be a records calendar: its events are records')
  return accessed
}

/** Throws VALIDATION_ERROR unless the caller may read the linked record: a link reveals that the record exists. */
export async function requireLinkedRecord(
  scope: Scope,
  { record_type, record_id }: Pick<EventRow, 'record_type' | 'record_id'>,
): Promise<void> {
  if (record_type === null || record_id === null) return
  try {
    await getRecord(scope, record_type, record_id)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'record_id must be the id of a record of record_type that you may read', { cause })
  }
}

async function writeNewEvent(
  scope: Scope,
  { calendar }: CalendarWithAccess,
  row: EventRow,
  guests: Awaited<ReturnType<typeof readGuests>>,
  informsGuests: boolean,
  checked: OverlapCheck | 'inside',
): Promise<Attendee[]> {
  await requireNoOverlap(scope, calendar, [row], checked)
  await insertEvents(scope.db, scope.workspace.id, [withExtent(row)])
  const attendees = guests.map((guest, position) => newAttendee(scope, row.id, guest, position))
  await insertAttendees(scope.db, scope.workspace.id, attendees)
  const invited = { root: { event: row, guests: attendees }, exceptions: [] }
  if (informsGuests) await informGuests(scope, guestMessages(undefined, invited, scope.actor.id))
  await announceEvent(scope, calendar, 'created', row, attendees)
  await scheduleReminders(scope, calendar, [row])
  return attendees
}

/** Builds a new event row from the input. */
export function newEventRow(
  scope: Scope,
  { calendar }: Pick<CalendarWithAccess, 'calendar'>,
  input: EventInput,
  source: string,
  deduplicationKey: string | null,
): EventRow {
  const id = newId()
  const now = scope.now().toISOString()
  const defaults: EventRow = {
    id,
    calendar_id: calendar.id,
    uid: `${id}@kontor`,
    series_id: null,
    original_start: null,
    original_date: null,
    is_removed: false,
    title: input.title,
    description: '',
    location: '',
    color: '',
    status: 'confirmed',
    visibility: 'default',
    is_free: false,
    start_at: null,
    end_at: null,
    start_date: null,
    end_date: null,
    wall_start: '',
    zone_release: zoneRelease,
    recurrence: null,
    rdates: [],
    exdates: [],
    reminders: null,
    source,
    sequence: 0,
    organizer: null,
    record_type: null,
    record_id: null,
    deduplication_key: deduplicationKey,
    created_by: scope.actor.id,
    timed_at: now,
    created_at: now,
    updated_at: now,
    timezone: calendar.timezone,
  }
  const when = readEventTime(input, undefined, calendar.timezone)
  return applyDetails({ ...defaults, ...eventTimeColumns(when) }, input)
}
