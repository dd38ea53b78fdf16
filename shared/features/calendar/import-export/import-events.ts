import type { Scope } from '#shared/core/scope/scope.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import { announceImportedEvents } from '#shared/features/calendar/announce.ts'
import { requireNoOverlap } from '#shared/features/calendar/availability/overlap.ts'
import { releaseSlots } from '#shared/features/calendar/booking/store.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { eventTimeOf, withExtents } from '#shared/features/calendar/events/event.ts'
import { type EventRow, findExceptions, insertEvents, updateEvents } from '#shared/features/calendar/events/store.ts'
import { newAttendee } from '#shared/features/calendar/guests/guests.ts'
import { findMemberGuests, findMembers, replaceAttendees } from '#shared/features/calendar/guests/store.ts'
import type { FileEvent } from '#shared/features/calendar/ics/read-event.ts'
import type { FileSet, ImportWarning } from '#shared/features/calendar/ics/read-file.ts'
import { buildImportedSets, type ImportedSet } from '#shared/features/calendar/import-export/imported-rows.ts'
import { deleteOtherExceptions, lockEventsByUid } from '#shared/features/calendar/import-export/store.ts'
import { scheduleReminders } from '#shared/features/calendar/reminders/schedule.ts'
import { findMembersById } from '#shared/features/calendar/store.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** The calendar to import into. Throws as `requireCalendar` does without write access, and VALIDATION_ERROR for a records calendar. */
export async function requireImportCalendar(scope: Scope, calendarId: string): Promise<Calendar> {
  const { calendar } = await requireCalendar(scope, calendarId, 'write')
  if (calendar.kind === 'records') throw problem('VALIDATION_ERROR', 'A records calendar takes no events: import records')
  return calendar
}

/** Counts and warnings of one part of a file. */
interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly skipped: number
  readonly warnings: readonly ImportWarning[]
}

/**
 * Writes the events of some UIDs in the caller's transaction; importing them again updates them. A UID that the calendar has is replaced as
 * a whole: the event, its changed occurrences and its guests keep their ids, and no sequence number falls. Guests keep the answers of the
 * file, and nobody is mailed. In a calendar without overlaps, an event that would overlap is left out with a warning.
 */
export async function importEvents(scope: Scope, calendar: Calendar, part: readonly FileSet[]): Promise<ImportCounts> {
  const { db, workspace } = scope
  const uids = part.map(({ uid }) => uid)
  const known = await db.query(lockEventsByUid({ workspaceId: workspace.id, calendarId: calendar.id, uids }))
  const knownIds = known.map(({ id }) => id)
  const exceptions = await findExceptions(db, workspace.id, knownIds)
  const people = [calendar.owner_id, ...known.map(({ created_by }) => created_by)].filter((id) => id !== null)
  const organizers = await findMembersById(db, workspace.id, [...new Set(people)])
  const sets = buildImportedSets({ scope, calendar, organizers }, part, { events: known, exceptions })
  const written = calendar.settings.no_overlap ? await writeWithoutOverlaps(scope, calendar, sets) : { sets, warnings: [] }
  if (!calendar.settings.no_overlap) await writeSets(scope, sets)
  const rows = written.sets.flatMap((set) => [set.event, ...set.exceptions])
  await scheduleReminders(scope, calendar, rows)
  await announceSets(scope, calendar, written.sets)
  const created = written.sets.filter(({ change }) => change === 'created').length
  const notes = written.sets.flatMap(({ line, event: { uid }, notes }) => notes.map((message) => ({ line, uid, message })))
  const built = new Set(sets.map(({ event: { uid } }) => uid))
  const missing = part.filter(({ uid }) => !built.has(uid))
  for (const { uid, cancels } of missing)
    notes.push({ line: cancels[0]?.line ?? 0, uid, message: 'cancels an event that the calendar does not have' })
  const skipped = sets.length - written.sets.length + missing.length
  return { created, updated: written.sets.length - created, skipped, warnings: [...notes, ...written.warnings] }
}

/** Announces what was written. Events that are over start no flows. */
async function announceSets(scope: Scope, calendar: Calendar, sets: readonly ImportedSet[]): Promise<void> {
  const now = scope.now().getTime()
  const isDelivered = ({ event }: ImportedSet) => event.recurrence !== null || eventTimeOf(event).end > now
  const ids = sets.map(({ event }) => event.id)
  const memberIds = await findMemberGuests(scope.db, scope.workspace.id, ids)
  for (const part of Map.groupBy(sets, (set) => `${set.change} ${isDelivered(set)}`).values()) {
    const [first] = part
    if (first)
      await announceImportedEvents(scope, calendar, { name: first.change, events: part, memberIds, isDelivered: isDelivered(first) })
  }
}

/** Writes one UID after the other, each in a savepoint. A UID that overlaps an earlier event is left out with a warning. */
async function writeWithoutOverlaps(scope: Scope, calendar: Calendar, sets: readonly ImportedSet[]) {
  const writtenSets: ImportedSet[] = []
  const warnings: ImportWarning[] = []
  for (const set of sets) {
    try {
      await withSavepoint(scope.db, async () => {
        await requireNoOverlap(scope, calendar, [set.event, ...set.exceptions], 'inside')
        await writeSets(scope, [set])
      })
      writtenSets.push(set)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'SLOT_TAKEN') throw error
      warnings.push({ line: set.line, uid: set.event.uid, message: `SLOT_TAKEN: ${error.message}` })
    }
  }
  return { sets: writtenSets, warnings }
}

async function writeSets(scope: Scope, sets: readonly ImportedSet[]): Promise<void> {
  const { db, workspace } = scope
  const budget = transactionBudget(scope)
  const rows = sets.flatMap(({ event, exceptions }) => [event, ...exceptions])
  const kept = new Set(sets.flatMap(({ keptIds }) => keptIds))
  const known = sets.filter(({ change }) => change !== 'created').map(({ event }) => event.id)
  await deleteOtherExceptions(db, workspace.id, known, [...kept])
  const storedRows = rows.filter(({ id }) => kept.has(id))
  await updateEvents(db, workspace.id, await withExtents(storedRows, budget))
  await releaseSlots(db, workspace.id, known)
  const newRows = rows.filter(({ id }) => !kept.has(id))
  await insertEvents(db, workspace.id, await withExtents(newRows, budget))
  const guests = sets.flatMap(({ guests }) => guests)
  const emails = [...new Set(guests.flatMap(([, all]) => all.map(({ email }) => email.toLowerCase())))]
  const members = new Map(
    (emails.length > 0 ? await db.query(findMembers({ workspaceId: workspace.id, ids: [], emails })) : []).map((one) => [
      one.email.toLowerCase(),
      one.id,
    ]),
  )
  await replaceAttendees(
    db,
    workspace.id,
    [...kept].filter((id) => guests.some(([event]) => event.id === id)),
    guests.flatMap(([event, all]: readonly [EventRow, FileEvent['guests']]) =>
      all.map(({ email, name, status }, position) =>
        newAttendee(scope, event.id, { user_id: members.get(email.toLowerCase()) ?? null, email, name }, position, { status }),
      ),
    ),
  )
}
