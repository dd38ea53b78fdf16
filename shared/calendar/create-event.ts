import { type Accessed, requireCalendar } from '#shared/calendar/access.ts'
import { applyChange } from '#shared/calendar/apply-change.ts'
import { insertAttendees } from '#shared/calendar/attendees-store.ts'
import { primaryCalendar } from '#shared/calendar/calendars.ts'
import type { Attendee, EventRow } from '#shared/calendar/event.ts'
import type { EventInput, EventView } from '#shared/calendar/event-schemas.ts'
import { findEventByKey, insertEvents } from '#shared/calendar/events-store.ts'
import { guestChanges } from '#shared/calendar/guest-changes.ts'
import { newAttendee, readGuests } from '#shared/calendar/guests.ts'
import { type Checked, holdingApart, requireNoOverlap } from '#shared/calendar/overlap.ts'
import { eventViewOf, requireSight } from '#shared/calendar/read-event.ts'
import { written } from '#shared/calendar/rows.ts'
import { requireZone } from '#shared/calendar/schemas.ts'
import { noteSignals } from '#shared/calendar/signals.ts'
import { tell } from '#shared/calendar/tell.ts'
import { zoneRelease } from '#shared/calendar/time.ts'
import { announceEvent } from '#shared/calendar/trigger.ts'
import { readWhen, whenColumns } from '#shared/calendar/when.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { getRecord } from '#shared/records/read.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** What of its creation an event keeps. */
export interface Origin {
  /** The same key again, of work that is repeated, gives the event that there is. */
  readonly naturalKey?: string
  /** Where it comes from: by hand unless it is said. */
  readonly source?: 'manual' | 'flow' | 'function'
}

/**
 * Makes an event, on the caller's main calendar when none is named, and mails its guests unless `notify` is false (document 3, Event create
 * body). The one function behind the route, the SDK and `action.create_event`. Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR, SLOT_TAKEN.
 */
export function createEvent(scope: Scope, input: EventInput, { naturalKey, source = 'manual' }: Origin = {}): Promise<EventView> {
  return holdingApart(scope, async (inside, checked) => {
    const known = naturalKey === undefined ? undefined : await findEventByKey(inside.db, scope.workspace.id, naturalKey)
    if (known) return eventViewOf(await requireSight(inside, known))
    const accessed = await calendarFor(inside, input.calendar_id)
    const row = newRow(inside, accessed, input, source, naturalKey ?? null)
    await requireLink(inside, row)
    const guests = await readGuests(inside, input.attendees ?? [])
    return eventViewOf({ event: row, ...accessed, guests: await writeNew(inside, accessed, row, guests, input.notify ?? true, checked) })
  })
}

/** Where an event is to stand: a calendar that the caller may write, and that keeps events of its own. */
export async function calendarFor(scope: Scope, id: string | undefined): Promise<Accessed> {
  const accessed = id === undefined ? await primaryCalendar(scope) : await requireCalendar(scope, id, 'write')
  if (accessed.calendar.kind === 'records')
    throw problem('VALIDATION_ERROR', 'calendar_id must not be a records calendar: its events are records')
  return accessed
}

/** The link of an event says that there is such a record, so whoever makes it must be able to read it. Throws VALIDATION_ERROR. */
export async function requireLink(scope: Scope, { record_type, record_id }: Pick<EventRow, 'record_type' | 'record_id'>): Promise<void> {
  if (record_type === null || record_id === null) return
  try {
    await getRecord(scope, record_type, record_id)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', 'record_id must be the id of a record of record_type that you may read', { cause })
  }
}

async function writeNew(
  scope: Scope,
  { calendar }: Accessed,
  row: EventRow,
  guests: Awaited<ReturnType<typeof readGuests>>,
  isTold: boolean,
  checked: Checked | 'inside',
): Promise<Attendee[]> {
  await requireNoOverlap(scope, calendar, [row], checked)
  await insertEvents(scope.db, scope.workspace.id, [written(row)])
  const attendees = guests.map((guest, position) => newAttendee(scope, row.id, guest, position))
  await insertAttendees(scope.db, scope.workspace.id, attendees)
  const invited = { root: { event: row, guests: attendees }, exceptions: [] }
  if (isTold) await tell(scope, guestChanges(undefined, invited, scope.actor.id))
  await announceEvent(scope, calendar, 'created', row, attendees)
  await noteSignals(scope, calendar, [row])
  return attendees
}

/** An event that is not there yet, of what was sent of it. */
export function newRow(scope: Scope, { calendar }: Accessed, input: EventInput, source: string, naturalKey: string | null): EventRow {
  const id = newId()
  const at = scope.now().toISOString()
  const blank: EventRow = {
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
    ...{ natural_key: naturalKey, created_by: scope.actor.id, timed_at: at, created_at: at, updated_at: at, timezone: calendar.timezone },
  }
  if (input.timezone !== undefined) requireZone(input.timezone)
  const { start, end, all_day, ...rest } = input
  const when = readWhen(input, undefined, calendar.timezone)
  return applyChange({ ...blank, ...whenColumns(when) }, rest)
}
