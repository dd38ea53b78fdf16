import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { type EventRow, wallText } from '#shared/calendar/event.ts'
import type { ReadFile } from '#shared/calendar/ics/read.ts'
import type { FileEvent } from '#shared/calendar/ics/read-event.ts'
import { originalIn } from '#shared/calendar/ics/read-event.ts'
import { occurrenceColumns } from '#shared/calendar/occurrence-row.ts'
import { platformAddress } from '#shared/calendar/organizer.ts'
import { dateText } from '#shared/calendar/time.ts'
import { whenColumns } from '#shared/calendar/when.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The events that one UID of a file comes to. */
export interface ImportedSet {
  readonly line: number
  readonly isNew: boolean
  readonly event: EventRow
  readonly exceptions: readonly EventRow[]
  readonly guests: readonly (readonly [EventRow, FileEvent['guests']])[]
}

/** What a calendar has under a UID. */
export interface KnownUid {
  readonly uid: string
  readonly id: string
  readonly sequence: number
  readonly created_at: string
}

/** The rows of the events of some UIDs; an occurrence whose series the file does not hold is an event by itself. */
export function importedSets(
  scope: Scope,
  calendar: Calendar,
  part: ReadFile['byUid'],
  book: ReadFile['book'],
  known: readonly KnownUid[],
): ImportedSet[] {
  const byUid = new Map(known.map((one) => [one.uid, one]))
  const make = (uid: string, of: readonly FileEvent[]) => setOf(scope, calendar, uid, of, book, byUid.get(uid))
  return part.map(([uid, events]) => make(uid, events))
}

const newer = (a: FileEvent, b: FileEvent): number =>
  b.sequence - a.sequence || (b.stamp < a.stamp ? -1 : b.stamp > a.stamp ? 1 : b.line - a.line)

function setOf(
  scope: Scope,
  calendar: Calendar,
  uid: string,
  events: readonly FileEvent[],
  book: ReadFile['book'],
  known: KnownUid | undefined,
): ImportedSet {
  const [master] = events.filter(({ original }) => original === undefined).sort(newer)
  // Without its series the newest occurrence stands for the whole UID.
  const chosen = master ?? ([...events].sort(newer)[0] as FileEvent)
  const event = rowOf(scope, calendar, uid, chosen, known)
  const exceptions = master && event.recurrence !== null ? exceptionsOf(scope, calendar, event, master, events, book) : []
  const guests = [[event, chosen.guests] as const, ...exceptions.map(([row, from]) => [row, from.guests] as const)]
  return { line: chosen.line, isNew: known === undefined, event, exceptions: exceptions.map(([row]) => row), guests }
}

function exceptionsOf(
  scope: Scope,
  calendar: Calendar,
  event: EventRow,
  master: FileEvent,
  events: readonly FileEvent[],
  book: ReadFile['book'],
): [EventRow, FileEvent][] {
  const byOriginal = new Map<number, FileEvent>()
  for (const one of [...events].sort(newer)) {
    if (one.original === undefined) continue
    const original = originalIn(one.original, master.when, book)
    if (!byOriginal.has(original)) byOriginal.set(original, one)
  }
  return [...byOriginal].map(([original, one]) => {
    const row = { ...rowOf(scope, calendar, event.uid, one, undefined), ...occurrenceColumns(event, original) }
    return [row, one]
  })
}

function rowOf(scope: Scope, calendar: Calendar, uid: string, from: FileEvent, known: KnownUid | undefined): EventRow {
  const at = scope.now().toISOString()
  const start = (ms: number): string => (from.when.allDay ? `${dateText(ms)}T00:00:00` : wallText(ms))
  return {
    ...{
      id: known?.id ?? newId(),
      calendar_id: calendar.id,
      uid,
      series_id: null,
      original_start: null,
      original_date: null,
      is_removed: false,
    },
    ...{ title: from.title, description: from.description, location: from.location, color: '', status: from.status },
    ...{ visibility: from.isPrivate ? 'private' : 'default', is_free: from.isFree, reminders: from.reminders, source: 'import' },
    ...whenColumns(from.when),
    ...{ recurrence: from.recurrence, rdates: from.rdates.map(start), exdates: from.exdates.map(start) },
    ...{
      sequence: Math.max(from.sequence, known?.sequence ?? 0),
      organizer: foreign(scope, from),
      record_type: null,
      record_id: null,
      natural_key: null,
    },
    ...{ created_by: scope.actor.id, timed_at: at, created_at: known?.created_at ?? at, updated_at: at },
  }
}

/** Who organizes the event, when that is not the caller itself, nor this server for it. */
function foreign({ config, principal }: Scope, { organizer }: FileEvent): EventRow['organizer'] {
  if (organizer === null || organizer.email === '') return null
  const isOwn = [platformAddress(config), principal?.email ?? ''].some((email) => email.toLowerCase() === organizer.email.toLowerCase())
  return isOwn ? null : organizer
}
