import { applyChange, isSameTime, stamped } from '#shared/calendar/apply-change.ts'
import { type EventRow, originalOf, seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { EventChange } from '#shared/calendar/event-schemas.ts'
import type { Series } from '#shared/calendar/expand.ts'
import { occurrenceColumns } from '#shared/calendar/occurrence-row.ts'
import { movedByDays, movedOriginals, movement, splitRepeats } from '#shared/calendar/shift.ts'
import { readWhen, shownTime, type When, whenColumns } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'

/** One event of a change, as it was and as it is to be; neither is there for one that is made or goes. */
export interface RowChange {
  readonly before?: EventRow
  readonly after?: EventRow
  /** Of an occurrence that becomes a row of its own: what it was as one of its series. */
  readonly was?: EventRow
  /** Set for the earlier part of a series that is cut: a change of guests is of the later part. */
  readonly keepsGuests?: true
}

/** A series and its changed occurrences. */
export interface Repeating {
  readonly series: EventRow
  readonly exceptions: readonly EventRow[]
}

/**
 * What a change makes of a whole series: its exceptions move along, and those that its new rule does not have are deleted. A series that is
 * called off takes place on no day, so its exceptions are called off with it.
 */
export async function changeSeries(
  { series, exceptions }: Repeating,
  change: EventChange,
  now: Date,
  budget: ComputeBudget,
): Promise<RowChange[]> {
  const last = lastSequence([series, ...exceptions])
  const after = stamped(series, applyChange(series, change), now, last)
  const [was, is] = [seriesOf(series), seriesOf(after)]
  const originals = exceptions.flatMap((one) => originalOf(one) ?? [])
  if (!was || !is) return [{ before: series, after }, ...exceptions.map((before) => ({ before }))]
  const moved = await placesOf(was, is, originals, change, budget)
  const rows: RowChange[] = [{ before: series, after }]
  for (const before of exceptions) {
    const to = moved.get(originalOf(before) ?? Number.NaN)
    if (to === undefined) rows.push({ before })
    else rows.push({ before, after: stamped(before, followed(before, to, series, after, { was, is }, change), now, last) })
    if (budget.isPauseDue()) await budget.pause()
  }
  return rows
}

/** The starts that exceptions stand for after a change, by those of before. */
async function placesOf(
  was: Series,
  is: Series,
  originals: readonly number[],
  change: EventChange,
  budget: ComputeBudget,
): Promise<ReadonlyMap<number, number>> {
  const isSame = isSameTime(was, is) && was.rule === is.rule
  if (isSame) return new Map(originals.map((start) => [start, start]))
  return movedOriginals(was, is, originals, change.recurrence !== undefined, budget)
}

interface Shifted {
  readonly was: Series
  readonly is: Series
}

/** An exception as its series takes it along to another start. */
function followed(exception: EventRow, to: number, before: EventRow, after: EventRow, { was, is }: Shifted, change: EventChange): EventRow {
  const own = whenOf(exception)
  const when: When = hasOwnTime(own, was, originalOf(exception) ?? own.start)
    ? alongWith(own, { was, is })
    : { ...is, start: to, end: to + (is.end - is.start) }
  const plain = Object.entries(withoutTimes(change)).filter(
    ([key, value]) => exception[key as keyof EventRow] === before[key as keyof EventRow] || (key === 'status' && value === 'cancelled'),
  )
  return {
    ...applyChange(exception, Object.fromEntries(plain) as EventChange),
    ...whenColumns(when),
    ...occurrenceColumns(after, to),
    calendar_id: after.calendar_id,
  }
}

/**
 * A time of an exception's own as it moves along with its series. One that has dates where its series has times, or the other way round,
 * moves by days.
 */
function alongWith(own: When, { was, is }: Shifted): When {
  if (isSameTime(was, is)) return own
  const length = own.end - own.start
  if (own.allDay !== was.allDay) {
    const start = movedByDays(was, is, own)
    return { ...own, start, end: start + length }
  }
  const start = movement(was, is)(own.start)
  return { ...is, start, end: start + (is.allDay === own.allDay ? length : is.end - is.start) }
}

/** The highest SEQUENCE of the rows of a UID: the next one is above it, so that programs never see the number of an occurrence fall. */
export const lastSequence = (rows: readonly EventRow[]): number => Math.max(...rows.map(({ sequence }) => sequence))

const hasOwnTime = (own: When, series: When, original: number): boolean =>
  !isSameTime(own, { ...series, start: original, end: original + (series.end - series.start) })

/** What of a change says nothing of times or repeats. */
function withoutTimes({ title, description, location, color, status, visibility }: EventChange): EventChange {
  return Object.fromEntries(
    Object.entries({ title, description, location, color, status, visibility }).filter(([, value]) => value !== undefined),
  ) as EventChange
}

/**
 * A change of the later part of a series as one of its rule's first start: times that were sent are those of the occurrence that it is cut
 * at, which may be a start beside the rule.
 */
export function fromOccurrence(series: EventRow, original: number, change: EventChange): EventChange {
  const own = whenOf(series)
  if (original === own.start || change.recurrence) return change
  const at = { ...own, start: original, end: original + (own.end - own.start) }
  const to = readWhen(change, at, own.zone)
  if (isSameTime(at, to)) return change
  const start = movement(at, to)(own.start)
  const [from, until] = [start, start + (to.end - to.start)].map((ms) => shownTime(ms, to.allDay))
  return { ...change, start: from as string, end: until as string, all_day: to.allDay }
}

/** What a change makes of one occurrence: a row of its own, made where there is none. */
export function changeOccurrence(
  { series, exceptions }: Repeating,
  original: number,
  exception: EventRow | undefined,
  change: EventChange,
  now: Date,
): RowChange[] {
  if (change.recurrence) throw problem('VALIDATION_ERROR', 'recurrence is of the whole series: use scope=all or following')
  if (change.calendar_id !== undefined && change.calendar_id !== series.calendar_id)
    throw problem('VALIDATION_ERROR', 'calendar_id is of the whole series: use scope=all')
  const { recurrence: _, ...own } = change
  const known = exception ?? occurrenceRow(series, original, now)
  const after = stamped(known, applyChange(known, own), now, lastSequence([series, ...exceptions]))
  return [exception ? { before: exception, after } : { after, was: known }]
}

/** An occurrence as a row of its own, as its series has it. */
export function occurrenceRow(series: EventRow, original: number, now: Date): EventRow {
  const when = whenOf(series)
  const at = now.toISOString()
  return {
    ...series,
    ...whenColumns({ ...when, start: original, end: original + (when.end - when.start) }),
    ...occurrenceColumns(series, original),
    ...{ id: newId(), recurrence: null, rdates: [], exdates: [], natural_key: null, created_at: at, updated_at: at, timed_at: at },
  }
}

/**
 * A series cut at one of its occurrences: what it keeps, and a new one with the rest and a UID of its own. Every occurrence is in one of
 * them, and exceptions go with theirs.
 */
export function splitSeries({ series, exceptions }: Repeating, original: number, now: Date): { kept: RowChange[]; rest: Repeating } {
  const parts = splitRepeats(series, original)
  const when = whenOf(series)
  const id = newId()
  const at = now.toISOString()
  const partOf = ({ start, ...repeats }: typeof parts.after): EventRow => ({
    ...series,
    ...(start === when.start ? {} : whenColumns({ ...when, start, end: start + (when.end - when.start) })),
    ...repeats,
  })
  const rest: EventRow = {
    ...partOf(parts.after),
    ...{ id, uid: `${id}@kontor`, sequence: 0, natural_key: null, created_at: at, updated_at: at, timed_at: at },
  }
  const later = exceptions.filter((one) => (originalOf(one) ?? 0) >= original).map((one) => ({ ...one, series_id: id, uid: rest.uid }))
  return {
    kept: [
      {
        before: series,
        after: stamped(series, partOf(parts.before), now, lastSequence([series, ...exceptions])),
        keepsGuests: true,
      },
    ],
    rest: { series: rest, exceptions: later },
  }
}
