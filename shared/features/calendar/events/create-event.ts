import { getRecord } from '#shared/core/records/read.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type Accessed, requireCalendar } from '#shared/features/calendar/access.ts'
import { announceEvent } from '#shared/features/calendar/announce.ts'
import { type Checked, holdingApart, requireNoOverlap } from '#shared/features/calendar/availability/overlap.ts'
import { primaryCalendar } from '#shared/features/calendar/calendars/calendars.ts'
import { readWhen, whenColumns } from '#shared/features/calendar/event-time.ts'
import { applyChange } from '#shared/features/calendar/events/apply-change.ts'
import type { Attendee, EventRow } from '#shared/features/calendar/events/event.ts'
import { written } from '#shared/features/calendar/events/event-extent.ts'
import { eventViewOf, requireSight } from '#shared/features/calendar/events/read-event.ts'
import type { EventInput, EventView } from '#shared/features/calendar/events/schemas.ts'
import { findEventByKey, insertEvents } from '#shared/features/calendar/events/store.ts'
import { guestChanges } from '#shared/features/calendar/guests/guest-messages.ts'
import { newAttendee, readGuests } from '#shared/features/calendar/guests/guests.ts'
import { tell } from '#shared/features/calendar/guests/inform-guests.ts'
import { insertAttendees } from '#shared/features/calendar/guests/store.ts'
import { noteSignals } from '#shared/features/calendar/reminders/schedule.ts'
import { requireZone } from '#shared/features/calendar/schemas.ts'
import { zoneRelease } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Origin of an event, stored with it. */
export interface Origin {
  /** Makes creation idempotent: a second call with the same key returns the existing event. */
  readonly naturalKey?: string
  /** Default: `manual`. */
  readonly source?: 'manual' | 'flow' | 'function'
}

/**
 * Creates an event, by default on the caller's main calendar, and mails its guests unless `notify` is false (document 3, Event create
 * body). Used by the route, the SDK and `action.create_event`. Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR, SLOT_TAKEN.
 */
export function createEvent(scope: Scope, input: EventInput, { naturalKey, source = 'manual' }: Origin = {}): Promise<EventView> {
  return holdingApart(scope, async (txScope, checked) => {
    const known = naturalKey === undefined ? undefined : await findEventByKey(txScope.db, scope.workspace.id, naturalKey)
    if (known) return eventViewOf(await requireSight(txScope, known))
    const accessed = await calendarFor(txScope, input.calendar_id)
    const row = newRow(txScope, accessed, input, source, naturalKey ?? null)
    await requireLink(txScope, row)
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
export async function calendarFor(scope: Scope, id: string | undefined): Promise<Accessed> {
  const accessed = id === undefined ? await primaryCalendar(scope) : await requireCalendar(scope, id, 'write')
  if (accessed.calendar.kind === 'records')
    throw problem('VALIDATION_ERROR', 'calendar_id must not be a records calendar: its events are records')
  return accessed
}

/** Throws VALIDATION_ERROR unless the caller may read the linked record: a link reveals that the record exists. */
export async function requireLink(scope: Scope, { record_type, record_id }: Pick<EventRow, 'record_type' | 'record_id'>): Promise<void> {
  if (record_type === null || record_id === null) return
  try {
    await getRecord(scope, record_type, record_id)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'record_id must be the id of a record of record_type that you may read', { cause })
  }
}

async function writeNewEvent(
  scope: Scope,
  { calendar }: Accessed,
  row: EventRow,
  guests: Awaited<ReturnType<typeof readGuests>>,
  informsGuests: boolean,
  checked: Checked | 'inside',
): Promise<Attendee[]> {
  await requireNoOverlap(scope, calendar, [row], checked)
  await insertEvents(scope.db, scope.workspace.id, [written(row)])
  const attendees = guests.map((guest, position) => newAttendee(scope, row.id, guest, position))
  await insertAttendees(scope.db, scope.workspace.id, attendees)
  const invited = { root: { event: row, guests: attendees }, exceptions: [] }
  if (informsGuests) await tell(scope, guestChanges(undefined, invited, scope.actor.id))
  await announceEvent(scope, calendar, 'created', row, attendees)
  await noteSignals(scope, calendar, [row])
  return attendees
}

/** Builds a new event row from the input. */
export function newRow(scope: Scope, { calendar }: Accessed, input: EventInput, source: string, naturalKey: string | null): EventRow {
  const id = newId()
  const now = scope.now().toISOString()
  const defaults: EventRow = {
    ...{ id, calendar_id: calendar.id, uid: `${id}@kontor`, series_id: null, original_start: null, original_date: null, is_removed: false },
    ...{ title: input.title, description: '', location: '', color: '', status: 'confirmed', visibility: 'default', is_free: false },
    ...{ start_at: null, end_at: null, start_date: null, end_date: null, wall_start: '', zone_release: zoneRelease },
    ...{
      recurrence: null,
      rdates: [],
      exdates: [],
      reminders: null,
      source,
      sequence: 0,
      organizer: null,
      record_type: null,
      record_id: null,
    },
    ...{
      natural_key: naturalKey,
      created_by: scope.actor.id,
      timed_at: now,
      created_at: now,
      updated_at: now,
      timezone: calendar.timezone,
    },
  }
  if (input.timezone !== undefined) requireZone(input.timezone)
  const { start, end, all_day, ...rest } = input
  const when = readWhen(input, undefined, calendar.timezone)
  return applyChange({ ...defaults, ...whenColumns(when) }, rest)
}
