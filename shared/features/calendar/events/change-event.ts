import type { Scope } from '#shared/core/scope/scope.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import { runWithOverlapCheck } from '#shared/features/calendar/availability/overlap.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { applyChange, stampChange } from '#shared/features/calendar/events/apply-change.ts'
import { requireLinkedRecord, requireWritableCalendar } from '#shared/features/calendar/events/create-event.ts'
import { eventTimeOf, originalStartOf, seriesOf } from '#shared/features/calendar/events/event.ts'
import { type EventSet, lockEventSet } from '#shared/features/calendar/events/event-set.ts'
import { eventViewOf } from '#shared/features/calendar/events/read-event.ts'
import type { ChangeQuery, EventChange, EventView } from '#shared/features/calendar/events/schemas.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { writeChanges } from '#shared/features/calendar/events/write-changes.ts'
import { readGuests } from '#shared/features/calendar/guests/guests.ts'
import { isFlagOn } from '#shared/features/calendar/schemas.ts'
import { endOfTime, isSeriesStart, listStarts } from '#shared/features/calendar/series/expand.ts'
import {
  asChangeOfFirstStart,
  changeOccurrence,
  changeSeries,
  type RowChange,
  splitSeries,
} from '#shared/features/calendar/series/plan-change.ts'
import { dateMs, instantMs } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/**
 * Changes the fields that were sent: of all occurrences, this one, or this and following (docs/contract/calendar.md#scope-of-a-change).
 * Guests are mailed about changes that concern them, unless `notify` is false. Returns the changed event: an occurrence or the later part
 * of a series becomes an event of its own. Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR, SLOT_TAKEN.
 */
export function changeEvent(scope: Scope, id: string, change: EventChange, query: ChangeQuery): Promise<EventView> {
  return runWithOverlapCheck(scope, async (txScope, checked) => {
    const set = await lockEventSet(txScope, id, 'write')
    const target = await targetCalendar(txScope, set, change)
    const plan = await planChange(set, change, query, scope.now(), transactionBudget(scope))
    const rows = target ? moveRows(plan, target) : plan.rows
    const event = rows.find(({ after }) => after?.id === plan.answeredId)?.after as EventRow
    // An unchanged link is not checked: a caller who may not read the record can send back the event as it was read.
    if (event.record_type !== set.event.record_type || event.record_id !== set.event.record_id) await requireLinkedRecord(txScope, event)
    const guests = change.attendees && (await readGuests(txScope, change.attendees))
    const informsGuests = (change.notify ?? true) && isFlagOn(query.notify, true)
    const calendar = target ?? set.calendar
    const guestsOf = await writeChanges(txScope, calendar, { rows, set, guests, informsGuests, checked })
    const { access } = await requireCalendar(txScope, calendar.id, 'write')
    return eventViewOf({ event, calendar, access, guests: guestsOf.get(event.id) ?? [] })
  })
}

/** The calendar that the change moves the event to; undefined when it stays. */
async function targetCalendar(scope: Scope, { event }: EventSet, { calendar_id }: EventChange): Promise<Calendar | undefined> {
  if (calendar_id === undefined || calendar_id.toLowerCase() === event.calendar_id) return undefined
  return (await requireWritableCalendar(scope, calendar_id)).calendar
}

/** Row changes of one request, and the id of the event that the answer shows. */
interface Plan {
  readonly rows: readonly RowChange[]
  readonly answeredId: string
}

/** Moves the answered event and its exceptions to another calendar. The earlier part of a split series stays. */
const moveRows = ({ rows, answeredId }: Plan, { id }: Calendar): RowChange[] =>
  rows.map(({ after, ...row }) => ({
    ...row,
    ...(after && { after: after.id === answeredId || after.series_id === answeredId ? { ...after, calendar_id: id } : after }),
  }))

async function planChange(set: EventSet, change: EventChange, query: ChangeQuery, now: Date, budget: ComputeBudget): Promise<Plan> {
  const { event, series, exceptions } = set
  if (!series) return { rows: [{ before: event, after: stampChange(event, applyChange(event, change), now) }], answeredId: event.id }
  const changeScope = query.scope ?? (event.id === series.id ? 'all' : 'this')
  if (changeScope === 'all') return { rows: await changeSeries({ series, exceptions }, change, now, budget), answeredId: series.id }
  const { original, exception } = requestedOccurrence(set, query)
  if (changeScope === 'this') {
    const rows = changeOccurrence({ series, exceptions }, original, exception, change, now)
    return { rows, answeredId: rows[0]?.after?.id ?? '' }
  }
  if (isFirstStart(series, original)) {
    const rows = await changeSeries({ series, exceptions }, asChangeOfFirstStart(series, original, change), now, budget)
    return { rows, answeredId: series.id }
  }
  const { kept, rest } = splitSeries({ series, exceptions }, original, now)
  const [first, ...later] = await changeSeries(rest, asChangeOfFirstStart(rest.series, original, change), now, budget)
  const exceptionsBefore = new Map(exceptions.map((one) => [one.id, one]))
  const movedExceptions = later.map(
    ({ before, after }): RowChange => ({
      ...(before ? { before: exceptionsBefore.get(before.id) ?? before } : {}),
      ...(after ? { after } : {}),
    }),
  )
  return { rows: [...kept, { after: { ...(first?.after as EventRow), sequence: 0 } }, ...movedExceptions], answeredId: rest.series.id }
}

/** The occurrence of a request: the event itself if it is an exception, else the one that the query names. Throws VALIDATION_ERROR. */
export function requestedOccurrence({ event, series, exceptions }: EventSet, { occurrence }: ChangeQuery) {
  const original = originalStartOf(event)
  if (original !== undefined) return { original, exception: event }
  return findOccurrence(series as EventRow, exceptions, occurrence)
}

/** Whether a series has no start before this one, removed starts included. */
export function isFirstStart(series: EventRow, original: number): boolean {
  const repeats = seriesOf(series)
  if (!repeats) return true
  return listStarts({ ...repeats, exdates: [] }, -endOfTime, original, 1).length === 0
}

/** An occurrence of a series: its start in the series, and its exception if it has one. */
interface FoundOccurrence {
  readonly original: number
  readonly exception: EventRow | undefined
}

/**
 * Finds the occurrence that a request names by its start in the series or by its current start
 * (docs/contract/calendar.md#scope-of-a-change). Throws VALIDATION_ERROR when the text is missing or names no occurrence.
 */
function findOccurrence(series: EventRow, exceptions: readonly EventRow[], text: string | undefined): FoundOccurrence {
  if (text === undefined) throw problem('VALIDATION_ERROR', 'occurrence is required: the start of the occurrence')
  const { allDay } = eventTimeOf(series)
  const start = readStart(text, allDay)
  const exception = exceptions.find((one) => originalStartOf(one) === start)
  if (exception && !exception.is_removed) return { original: start, exception }
  const repeats = seriesOf(series)
  if (!exception && repeats && isSeriesStart(repeats, start)) return { original: start, exception: undefined }
  const moved = exceptions.find((one) => !one.is_removed && eventTimeOf(one).start === start && eventTimeOf(one).allDay === allDay)
  const original = moved && originalStartOf(moved)
  if (moved && original !== undefined) return { original, exception: moved }
  throw problem('VALIDATION_ERROR', 'occurrence must be the start of an occurrence of the series')
}

function readStart(text: string, allDay: boolean): number {
  const at = instantMs(text)
  const ms = allDay && (isDay(text) || at !== undefined) ? dateMs(text.slice(0, 10)) : at
  if (ms === undefined) throw problem('VALIDATION_ERROR', `occurrence must be ${allDay ? 'YYYY-MM-DD' : 'an RFC 3339 instant'}`)
  return ms
}
