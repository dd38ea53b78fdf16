import { requireCalendar } from '#shared/calendar/access.ts'
import { applyChange, stamped } from '#shared/calendar/apply-change.ts'
import { transactionBudget } from '#shared/calendar/budget.ts'
import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { calendarFor, requireLink } from '#shared/calendar/create-event.ts'
import { type EventRow, originalOf, seriesOf } from '#shared/calendar/event.ts'
import type { ChangeQuery, EventChange, EventView } from '#shared/calendar/event-schemas.ts'
import { type EventSet, lockEventSet } from '#shared/calendar/event-set.ts'
import { forEver, startsOf } from '#shared/calendar/expand.ts'
import { readGuests } from '#shared/calendar/guests.ts'
import { occurrenceOf } from '#shared/calendar/occurrence-of.ts'
import { holdingApart } from '#shared/calendar/overlap.ts'
import { changeOccurrence, changeSeries, fromOccurrence, type RowChange, splitSeries } from '#shared/calendar/plan-change.ts'
import { eventViewOf } from '#shared/calendar/read-event.ts'
import { writeChanges } from '#shared/calendar/write-changes.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'
import type { Scope } from '#shared/scope/scope.ts'

/**
 * Changes what was sent of an event; of a repeating one all of it, one occurrence, or that and those after it (document 3, Event rules).
 * Guests hear of what concerns them, unless `notify` is false. Returns the event that the change is of: an occurrence or the later part of
 * a series is one of its own from then on. Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR, SLOT_TAKEN.
 */
export function changeEvent(scope: Scope, id: string, change: EventChange, query: ChangeQuery): Promise<EventView> {
  return holdingApart(scope, async (inside, checked) => {
    const set = await lockEventSet(inside, id, 'write')
    const moved = await movedTo(inside, set, change)
    const plan = await planOf(set, change, query, scope.now(), transactionBudget(scope))
    const rows = moved ? movedRows(plan, moved) : plan.rows
    const event = rows.find(({ after }) => after?.id === plan.shown)?.after as EventRow
    // What was read can be sent again, also by somebody who may not read the record.
    if (event.record_type !== set.event.record_type || event.record_id !== set.event.record_id) await requireLink(inside, event)
    const guests = change.attendees && (await readGuests(inside, change.attendees))
    const isTold = (change.notify ?? true) && query.notify !== '0' && query.notify !== 'false'
    const calendar = moved ?? set.calendar
    const guestsOf = await writeChanges(inside, calendar, { rows, set, guests, isTold, checked })
    const { access } = await requireCalendar(inside, calendar.id, 'write')
    return eventViewOf({ event, calendar, access, guests: guestsOf.get(event.id) ?? [] })
  })
}

/** The other calendar that an event goes to; undefined when it stays. */
async function movedTo(scope: Scope, { event }: EventSet, { calendar_id }: EventChange): Promise<Calendar | undefined> {
  if (calendar_id === undefined || calendar_id.toLowerCase() === event.calendar_id) return undefined
  return (await calendarFor(scope, calendar_id)).calendar
}

/** What becomes of which rows, and which of them is answered with. */
interface Plan {
  readonly rows: readonly RowChange[]
  readonly shown: string
}

/** A plan whose event goes to another calendar; of a series that is cut the earlier part stays where it is. */
const movedRows = ({ rows, shown }: Plan, { id }: Calendar): RowChange[] =>
  rows.map(({ after, ...row }) => ({
    ...row,
    ...(after && { after: after.id === shown || after.series_id === shown ? { ...after, calendar_id: id } : after }),
  }))

async function planOf(set: EventSet, change: EventChange, query: ChangeQuery, now: Date, budget: ComputeBudget): Promise<Plan> {
  const { event, series, exceptions } = set
  if (!series) return { rows: [{ before: event, after: stamped(event, applyChange(event, change), now) }], shown: event.id }
  const reach = query.scope ?? (event.id === series.id ? 'all' : 'this')
  if (reach === 'all') return { rows: await changeSeries({ series, exceptions }, change, now, budget), shown: series.id }
  const { original, exception } = named(set, query)
  if (reach === 'this') {
    const rows = changeOccurrence({ series, exceptions }, original, exception, change, now)
    return { rows, shown: rows[0]?.after?.id ?? '' }
  }
  if (isFirst(series, original)) {
    const rows = await changeSeries({ series, exceptions }, fromOccurrence(series, original, change), now, budget)
    return { rows, shown: series.id }
  }
  const { kept, rest } = splitSeries({ series, exceptions }, original, now)
  const [first, ...later] = await changeSeries(rest, fromOccurrence(rest.series, original, change), now, budget)
  const exceptionsBefore = new Map(exceptions.map((one) => [one.id, one]))
  const moving = later.map(
    ({ before, after }): RowChange => ({
      ...(before ? { before: exceptionsBefore.get(before.id) ?? before } : {}),
      ...(after ? { after } : {}),
    }),
  )
  return { rows: [...kept, { after: { ...(first?.after as EventRow), sequence: 0 } }, ...moving], shown: rest.series.id }
}

/** The occurrence that a request is about: the event itself when it is one, else what the query names. */
export function named({ event, series, exceptions }: EventSet, { occurrence }: ChangeQuery) {
  const original = originalOf(event)
  if (original !== undefined) return { original, exception: event }
  return occurrenceOf(series as EventRow, exceptions, occurrence)
}

/** Whether nothing of a series comes before one of its starts. */
export function isFirst(series: EventRow, original: number): boolean {
  const repeats = seriesOf(series)
  if (!repeats) return true
  return startsOf({ ...repeats, exdates: [] }, -forEver, original, 1).length === 0
}
