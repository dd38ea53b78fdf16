import type { Scope } from '#shared/core/scope/scope.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { eventTimeColumns, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { occurrenceColumns, originalStartOf, wallClockText } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { platformAddress } from '#shared/features/calendar/guests/organizer.ts'
import { originalStartIn } from '#shared/features/calendar/ics/file-starts.ts'
import { byNewestFirst, type FileEvent } from '#shared/features/calendar/ics/read-event.ts'
import type { FileSet } from '#shared/features/calendar/ics/read-file.ts'
import { cancelNamed } from '#shared/features/calendar/import-export/cancelled-rows.ts'
import type { Member } from '#shared/features/calendar/store.ts'
import { dateText } from '#shared/features/calendar/time.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** The rows of one UID of a file. */
export interface ImportedSet {
  readonly line: number
  /** What the import does to the event, as it is announced. */
  readonly change: 'created' | 'updated' | 'cancelled'
  /** Ids of the event and the exceptions that the calendar already has. */
  readonly keptIds: readonly string[]
  /** Warnings about the whole UID. */
  readonly notes: readonly string[]
  readonly event: EventRow
  readonly exceptions: readonly EventRow[]
  /** The guests of each row; a row that is not here keeps those that it has. */
  readonly guests: readonly (readonly [EventRow, FileEvent['guests']])[]
}

/** The identity of a stored event, which an import keeps, and its status. */
type Identity = Pick<EventRow, 'id' | 'status' | 'sequence' | 'created_by' | 'created_at'>

/** The events that the calendar has under the UIDs, and their exceptions. */
interface StoredEvents {
  readonly events: readonly EventRow[]
  readonly exceptions: readonly EventRow[]
}

/** The import into a calendar. */
interface Import {
  readonly scope: Scope
  readonly calendar: Calendar
  /** The calendar's owner and the creators of the stored events: organizers whose events are not somebody else's. */
  readonly organizers: readonly Member[]
}

/**
 * Builds the rows of some UIDs. An occurrence whose series is not in the file becomes a single event; several occurrences of one UID become
 * a series of their original starts.
 */
export function buildImportedSets(into: Import, part: readonly FileSet[], stored: StoredEvents): ImportedSet[] {
  const byUid = new Map(stored.events.map((entry) => [entry.uid, entry]))
  const bySeries = Map.groupBy(stored.exceptions, ({ series_id }) => series_id)
  return part.flatMap((set) => {
    const known = byUid.get(set.uid)
    return buildSet(into, set, { known, knownExceptions: known ? (bySeries.get(known.id) ?? []) : [] })
  })
}

interface StoredSet {
  readonly known: EventRow | undefined
  readonly knownExceptions: readonly EventRow[]
}

/** The rows of a UID after the import, as a list of at most one: a cancellation of an event that the calendar does not have has none. */
function buildSet(into: Import, set: FileSet, { known, knownExceptions }: StoredSet): ImportedSet[] {
  const read = set.events.length > 0 ? rowsOfFile(into, set, { known, knownExceptions }) : undefined
  const rows = read ?? (known && { line: set.cancels[0]?.line ?? 0, event: known, exceptions: knownExceptions, guests: [], notes: [] })
  if (!rows) return []
  const cancelled = cancelNamed(rows, set.cancels, into.scope.now())
  const stored = new Set([known, ...knownExceptions].map((entry) => entry?.id))
  const { event, exceptions } = cancelled
  return [
    {
      line: rows.line,
      change: known === undefined ? 'created' : event.status === 'cancelled' && known.status !== 'cancelled' ? 'cancelled' : 'updated',
      keptIds: [event, ...exceptions].map(({ id }) => id).filter((id) => stored.has(id)),
      notes: [...rows.notes, ...cancelled.notes],
      event,
      exceptions,
      guests: rows.guests.filter(([{ id }]) => id === event.id || exceptions.some((row) => row.id === id)),
    },
  ]
}

function rowsOfFile(into: Import, { uid, events }: FileSet, { known, knownExceptions }: StoredSet) {
  const masters = events.filter(({ original }) => original === undefined).sort(byNewestFirst)
  const [master] = masters
  const { chosen, note } = master ? { chosen: master } : eventWithoutMaster(events)
  const creator = known?.created_by ?? null
  const event = buildRow(into, uid, chosen, known, creator)
  const exceptions = event.recurrence === null ? [] : buildExceptions(into, { event, master: chosen, creator }, events, knownExceptions)
  return {
    line: chosen.line,
    event,
    exceptions: exceptions.map(([row]) => row),
    guests: [[event, chosen.guests] as const, ...exceptions.map(([row, from]) => [row, from.guests] as const)],
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(masters.length > 1
        ? [`has ${masters.length} events of this UID without RECURRENCE-ID: "${cutText(chosen.title, 100)}" of line ${chosen.line} stays`]
        : []),
    ],
  }
}

/**
 * The event for a UID of which the file holds occurrences only, as exported for a guest who was invited to these alone. One occurrence
 * becomes a single event. Several become a series of their original starts, and each is a changed occurrence of it.
 */
function eventWithoutMaster(events: readonly FileEvent[]): { chosen: FileEvent; note: string } {
  const [newest] = [...events].sort(byNewestFirst) as [FileEvent]
  const { allDay, start, end, zone, tzid } = newest.when
  const originals = new Set(
    events.flatMap(({ original, zoneLookup }) => (original ? [originalStartIn(original, newest.when, zoneLookup)] : [])),
  )
  const [first = start, ...later] = [...originals].sort((a, b) => a - b)
  if (later.length === 0) return { chosen: newest, note: 'is an occurrence without its series: it is imported as a single event' }
  const when = { allDay, zone, tzid, start: first, end: first + (end - start) }
  const rdates = later.map((original) => wallClockOf(when, original))
  const chosen = { ...newest, original: undefined, when, recurrence: 'FREQ=DAILY;COUNT=1', rdates, exdates: [] }
  return { chosen, note: `has ${originals.size} occurrences without their series: they are imported as a series of their own` }
}

function buildExceptions(
  into: Import,
  { event, master, creator }: { readonly event: EventRow; readonly master: FileEvent; readonly creator: string | null },
  events: readonly FileEvent[],
  known: readonly EventRow[],
): [EventRow, FileEvent][] {
  const knownByOriginal = new Map(known.map((entry) => [originalStartOf(entry), entry]))
  const byOriginal = new Map<number, FileEvent>()
  for (const entry of [...events].sort(byNewestFirst)) {
    if (entry.original === undefined) continue
    const original = originalStartIn(entry.original, master.when, entry.zoneLookup)
    if (!byOriginal.has(original)) byOriginal.set(original, entry)
  }
  for (const [start, end] of master.ownEnds) {
    if (!byOriginal.has(start)) byOriginal.set(start, { ...master, when: { ...master.when, start, end } })
  }
  return [...byOriginal].map(([original, entry]) => {
    const row = buildRow(into, event.uid, entry, knownByOriginal.get(original), creator)
    return [{ ...row, recurrence: null, rdates: [], exdates: [], ...occurrenceColumns(event, original) }, entry]
  })
}

/** A row of the file. `creator` is that of the stored event, which stays its organizer; null for a new event. */
function buildRow(into: Import, uid: string, from: FileEvent, known: Identity | undefined, creator: string | null): EventRow {
  const { scope, calendar } = into
  const at = scope.now().toISOString()
  const start = (ms: number): string => (from.when.allDay ? `${dateText(ms)}T00:00:00` : wallClockText(ms))
  return {
    id: known?.id ?? newId(),
    calendar_id: calendar.id,
    uid,
    series_id: null,
    original_start: null,
    original_date: null,
    is_removed: false,
    title: from.title,
    description: from.description,
    location: from.location,
    color: '',
    status: from.status,
    visibility: from.isPrivate ? 'private' : 'default',
    is_free: from.isFree,
    reminders: from.reminders,
    source: 'import',
    ...eventTimeColumns(from.when),
    recurrence: from.recurrence,
    rdates: from.rdates.map(start),
    exdates: from.exdates.map(start),
    sequence: Math.max(from.sequence, known?.sequence ?? 0),
    organizer: foreignOrganizer(into, from, creator),
    record_type: null,
    record_id: null,
    deduplication_key: null,
    created_by: creator ?? scope.actor.id,
    timed_at: at,
    created_at: known?.created_at ?? at,
    updated_at: at,
  }
}

/**
 * The organizer of the event; null for none, the caller, the calendar's owner, the creator of the stored event, and the address from which
 * this server mails.
 */
function foreignOrganizer(
  { scope: { config, principal }, calendar, organizers }: Import,
  { organizer }: FileEvent,
  creator: string | null,
): EventRow['organizer'] {
  if (organizer === null || organizer.email === '') return null
  const members = organizers.filter(({ id }) => id === calendar.owner_id || id === creator).map(({ email }) => email)
  const own = [platformAddress(config), principal?.email ?? '', ...members]
  return own.some((email) => email.toLowerCase() === organizer.email.toLowerCase()) ? null : organizer
}
