import { stamped } from '#shared/calendar/apply-change.ts'
import { isFirst, named } from '#shared/calendar/change-event.ts'
import type { EventRow } from '#shared/calendar/event.ts'
import type { ChangeQuery } from '#shared/calendar/event-schemas.ts'
import { type EventSet, lockEventSet } from '#shared/calendar/event-set.ts'
import { holdingApart } from '#shared/calendar/overlap.ts'
import { lastSequence, occurrenceRow, type RowChange, splitSeries } from '#shared/calendar/plan-change.ts'
import { writeChanges } from '#shared/calendar/write-changes.ts'
import type { Scope } from '#shared/scope/scope.ts'

/**
 * Deletes an event, or of a repeating one an occurrence or that and those after it. Guests get a cancellation unless `notify` is 0. Throws
 * NOT_FOUND, FORBIDDEN, VALIDATION_ERROR.
 */
export function deleteEvent(scope: Scope, id: string, query: ChangeQuery): Promise<{ deleted: true }> {
  return holdingApart(scope, async (inside, checked) => {
    const set = await lockEventSet(inside, id, 'write')
    const isTold = query.notify !== '0' && query.notify !== 'false'
    await writeChanges(inside, set.calendar, { rows: goneOf(set, query, scope.now()), set, guests: undefined, isTold, checked })
    return { deleted: true as const }
  })
}

function goneOf(set: EventSet, query: ChangeQuery, now: Date): RowChange[] {
  const { event, series, exceptions } = set
  if (!series) return [{ before: event }]
  const all = (): RowChange[] => [{ before: series }, ...exceptions.map((before) => ({ before }))]
  const reach = query.scope ?? (event.id === series.id ? 'all' : 'this')
  if (reach === 'all') return all()
  const { original, exception } = named(set, query)
  if (reach === 'this') {
    const known = exception ?? occurrenceRow(series, original, now)
    const after: EventRow = stamped(known, { ...known, status: 'cancelled', is_removed: true }, now, lastSequence([series, ...exceptions]))
    return [exception ? { before: exception, after } : { after, was: known }]
  }
  if (isFirst(series, original)) return all()
  const { kept, rest } = splitSeries({ series, exceptions }, original, now)
  const gone = new Set(rest.exceptions.map((one) => one.id))
  return [...kept, ...exceptions.filter((one) => gone.has(one.id)).map((before): RowChange => ({ before }))]
}
