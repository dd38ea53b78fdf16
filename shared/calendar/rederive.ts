import { releaseSlots } from '#shared/calendar/booking/booking-store.ts'
import { calendarDue } from '#shared/calendar/due.ts'
import { type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import { findExceptions, updateEvents } from '#shared/calendar/events-store.ts'
import { isStart, type Series, startsOf } from '#shared/calendar/expand.ts'
import { occurrenceColumns } from '#shared/calendar/occurrence-row.ts'
import { written } from '#shared/calendar/rows.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import { atWall, wallMs, zoneRelease } from '#shared/calendar/time.ts'
import { whenColumns } from '#shared/calendar/when.ts'
import { findStaleEvents, lockEvents } from '#shared/calendar/zones-store.ts'
import type { Executor } from '#shared/db/database.ts'
import { setDueBy } from '#shared/due/due.ts'

/** Events that are looked for at once; each workspace's are one transaction. */
const batch = 200

/**
 * Derives the instants of events that are not over from what their clocks show, by the time zone data of this process, where an older release
 * made them: nine o'clock stays nine o'clock when a country changes its time. Nobody is mailed; calendars that guests have do the same.
 */
export async function rederiveTimes(db: Executor, now: Date, signal: AbortSignal): Promise<void> {
  for (;;) {
    const found = await findStaleEvents(db, zoneRelease, now, batch)
    if (found.length === 0) return
    for (const [workspaceId, events] of Map.groupBy(found, ({ workspace_id }) => workspace_id)) {
      signal.throwIfAborted()
      await db.transaction((tx) =>
        rederive(
          tx,
          workspaceId,
          events.map(({ id }) => id),
          now,
        ),
      )
    }
  }
}

async function rederive(tx: Executor, workspaceId: string, ids: readonly string[], now: Date): Promise<void> {
  const roots = await lockEvents(tx, workspaceId, ids)
  const exceptions = Map.groupBy(await findExceptions(tx, workspaceId, ids), ({ series_id }) => series_id ?? '')
  const changes = roots.flatMap((root) => {
    const after = rederived(root)
    const series = seriesOf(after)
    const own = exceptions.get(root.id) ?? []
    return [
      { before: root, after },
      ...(series ? rederivedIn(own, after, series) : own.map((before) => ({ before, after: rederived(before) }))),
    ]
  })
  await updateEvents(
    tx,
    workspaceId,
    changes.map(({ after }) => written(after)),
  )
  const moved = changes.filter(({ before, after }) => whenOf(before).start !== whenOf(after).start).map(({ after }) => after)
  await releaseSlots(
    tx,
    workspaceId,
    moved.map(({ id }) => id),
  )
  const calendars = new Set(moved.map(({ calendar_id }) => calendar_id))
  await setDueBy(
    tx,
    calendarDue,
    workspaceId,
    [...calendars].map((subject) => ({ subject, at: now })),
  )
}

/** The event at the instant at which its clock shows what it was to show: the one that it has, as long as that is so. */
export function rederived(row: EventRow): EventRow {
  const when = whenOf(row)
  if (when.allDay) return row
  const wall = Date.parse(`${row.wall_start}Z`)
  const start = wallMs(when.start, when.zone) === wall ? when.start : atWall(wall, when.zone)
  const { wall_start: _, ...columns } = whenColumns({ ...when, start, end: start + (when.end - when.start) })
  // What the clock was to show stays, also where it skips that now.
  return { ...row, ...columns }
}

/**
 * The same of a series' exceptions. Each stands for a start that the series has now: the one that it had, or the nearest that no other has;
 * its own where there is none.
 */
function rederivedIn(exceptions: readonly EventRow[], series: EventRow, repeats: Series): { before: EventRow; after: EventRow }[] {
  const whole = { ...repeats, exdates: [] }
  // Counting the starts before one is not worth its time here: the rule alone says when it has one.
  const uncounted = { ...whole, rule: ruleOf(partsOf(repeats.rule), { COUNT: undefined }) }
  const isKept = (original: number | undefined) => original === undefined || isStart(uncounted, original)
  const taken = new Set(exceptions.map(originalOf).filter(isKept))
  return exceptions.map((before) => {
    const original = originalOf(before)
    const after = rederived(before)
    if (original === undefined || isKept(original)) return { before, after }
    const near = startsOf(uncounted, original - reachMs, original + reachMs + 1, 100).filter((start) => !taken.has(start))
    const [nearest = original] = near.sort((a, b) => Math.abs(a - original) - Math.abs(b - original) || a - b)
    taken.add(nearest)
    return { before, after: { ...after, ...occurrenceColumns(series, nearest) } }
  })
}

/** No country has changed its time by more at once, but for those that changed sides of the date line. */
const reachMs = 3 * 3_600_000
