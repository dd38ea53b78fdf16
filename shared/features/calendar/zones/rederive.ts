import { announceRederivedEvents } from '#shared/features/calendar/announce.ts'
import { releaseSlots } from '#shared/features/calendar/booking/store.ts'
import { findCalendarsById } from '#shared/features/calendar/calendars/store.ts'
import { eventTimeColumns } from '#shared/features/calendar/event-time.ts'
import { eventTimeOf, occurrenceColumns, originalStartOf, seriesOf, withExtent } from '#shared/features/calendar/events/event.ts'
import { type EventRow, findExceptions, updateEvents } from '#shared/features/calendar/events/store.ts'
import { findMemberGuests } from '#shared/features/calendar/guests/store.ts'
import { calendarDue } from '#shared/features/calendar/reminders/due.ts'
import { isSeriesStart, listStarts, type Series } from '#shared/features/calendar/series/expand.ts'
import { rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import { fromWallClock, toWallClock, zoneRelease } from '#shared/features/calendar/time.ts'
import { findStaleEvents, lockEvents } from '#shared/features/calendar/zones/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { setDueNoLater } from '#shared/platform/due/due-times.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'

type AnnouncingScope = Parameters<typeof announceRederivedEvents>[0]

interface Rederiving {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly now: () => Date
}

/** Upper bound of events per round. Those of one workspace are one transaction. */
const maxEventsPerRound = 200

/**
 * Derives the instants of events that are not over from their local times again, where an older release of time zone data made them: nine
 * o'clock stays nine o'clock when a country changes its offset. No mail is sent, since guests' calendar programs do the same.
 */
export async function rederiveTimes({ db, jobQueue, now: readNow }: Rederiving, signal: AbortSignal): Promise<void> {
  const now = readNow()
  const cause = platformCause(`times of ${zoneRelease}`)
  for (;;) {
    const found = await db.query(findStaleEvents({ release: zoneRelease, now, limit: maxEventsPerRound }))
    if (found.length === 0) return
    for (const [workspaceId, events] of Map.groupBy(found, ({ workspace_id }) => workspace_id)) {
      signal.throwIfAborted()
      await db.transaction((tx) =>
        rederiveEvents(
          { db: tx, jobQueue, cause, workspace: { id: workspaceId } },
          events.map(({ id }) => id),
          now,
        ),
      )
    }
  }
}

async function rederiveEvents(scope: AnnouncingScope, ids: readonly string[], now: Date): Promise<void> {
  const { db: tx, workspace } = scope
  const workspaceId = workspace.id
  const roots = await tx.query(lockEvents({ workspaceId, ids }))
  const exceptions = Map.groupBy(await findExceptions(tx, workspaceId, ids), ({ series_id }) => series_id ?? '')
  const changes = roots.flatMap((root) => {
    const after = rederiveEvent(root)
    const series = seriesOf(after)
    const ownExceptions = exceptions.get(root.id) ?? []
    return [
      { before: root, after },
      ...(series
        ? rederiveExceptions(ownExceptions, after, series)
        : ownExceptions.map((before) => ({ before, after: rederiveEvent(before) }))),
    ]
  })
  const changed = changes.map(({ after }) => withExtent(after))
  await updateEvents(tx, workspaceId, changed)
  const moved = changes.filter(({ before, after }) => eventTimeOf(before).start !== eventTimeOf(after).start).map(({ after }) => after)
  const movedIds = moved.map(({ id }) => id)
  await releaseSlots(tx, workspaceId, movedIds)
  const calendars = new Set(moved.map(({ calendar_id }) => calendar_id))
  const checks = [...calendars].map((subject) => ({ subject, at: now }))
  await setDueNoLater(tx, calendarDue, workspaceId, checks)
  await announceMoved(
    scope,
    moved.filter(({ series_id }) => series_id === null),
  )
}

/** Announces the events and series that moved. */
async function announceMoved(scope: AnnouncingScope, events: readonly EventRow[]): Promise<void> {
  if (events.length === 0) return
  const { db, workspace } = scope
  const byCalendar = Map.groupBy(events, ({ calendar_id }) => calendar_id)
  const calendars = await db.query(findCalendarsById({ workspaceId: workspace.id, userId: null, ids: [...byCalendar.keys()] }))
  const ids = events.map(({ id }) => id)
  const memberIds = await findMemberGuests(db, workspace.id, ids)
  for (const calendar of calendars) await announceRederivedEvents(scope, calendar, byCalendar.get(calendar.id) ?? [], memberIds)
}

/** The event at the instant of its stored local time. The current instant is kept if it already has this local time. */
function rederiveEvent(row: EventRow): EventRow {
  const when = eventTimeOf(row)
  if (when.allDay) return row
  const wall = Date.parse(`${row.wall_start}Z`)
  const start = toWallClock(when.start, when.zone) === wall ? when.start : fromWallClock(wall, when.zone)
  const { wall_start: _, ...columns } = eventTimeColumns({ ...when, start, end: start + (when.end - when.start) })
  // `wall_start` is kept even if a clock change now skips it.
  return { ...row, ...columns }
}

/**
 * Rederives the exceptions of a series. Each gets an original start that the series has now: its own, or else the nearest free one within
 * three hours. If there is neither, the exception keeps its original start.
 */
function rederiveExceptions(exceptions: readonly EventRow[], series: EventRow, repeats: Series): { before: EventRow; after: EventRow }[] {
  // Without COUNT: counting all earlier starts costs too much here, and the rule alone decides whether it has a start at a time.
  const uncounted = { ...repeats, exdates: [], rule: ruleText(rulePartsOf(repeats.rule), { COUNT: undefined }) }
  const hasStart = (original: number | undefined) => original === undefined || isSeriesStart(uncounted, original)
  const taken = new Set(exceptions.map(originalStartOf).filter(hasStart))
  return exceptions.map((before) => {
    const original = originalStartOf(before)
    const after = rederiveEvent(before)
    if (original === undefined || hasStart(original)) return { before, after }
    const nearby = listStarts(uncounted, original - reachMs, original + reachMs + 1, 100).filter((start) => !taken.has(start))
    const [nearest = original] = nearby.sort((a, b) => Math.abs(a - original) - Math.abs(b - original) || a - b)
    taken.add(nearest)
    return { before, after: { ...after, ...occurrenceColumns(series, nearest) } }
  })
}

/** No country has changed its offset by more at once, except those that crossed the date line. */
const reachMs = 3 * hourMs
