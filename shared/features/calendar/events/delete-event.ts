import type { Scope } from '#shared/core/scope/scope.ts'
import { runWithOverlapCheck } from '#shared/features/calendar/availability/overlap.ts'
import { stampChange } from '#shared/features/calendar/events/apply-change.ts'
import { isFirstStart, requestedOccurrence } from '#shared/features/calendar/events/change-event.ts'
import { type EventSet, lockEventSet } from '#shared/features/calendar/events/event-set.ts'
import type { ChangeQuery } from '#shared/features/calendar/events/schemas.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { writeChanges } from '#shared/features/calendar/events/write-changes.ts'
import { isFlagOn } from '#shared/features/calendar/schemas.ts'
import { highestSequence, newExceptionRow, type RowChange, splitSeries } from '#shared/features/calendar/series/plan-change.ts'

/**
 * Deletes an event: all occurrences, this one, or this and following. Guests get a cancellation unless `notify` is `0` or `false`.
 * Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR.
 */
export function deleteEvent(scope: Scope, id: string, query: ChangeQuery): Promise<{ deleted: true }> {
  return runWithOverlapCheck(scope, async (txScope, checked) => {
    const set = await lockEventSet(txScope, id, 'write')
    const informsGuests = isFlagOn(query.notify, true)
    await writeChanges(txScope, set.calendar, {
      rows: rowsToDelete(set, query, scope.now()),
      set,
      guests: undefined,
      informsGuests,
      checked,
    })
    return { deleted: true as const }
  })
}

function rowsToDelete(set: EventSet, query: ChangeQuery, now: Date): RowChange[] {
  const { event, series, exceptions } = set
  if (!series) return [{ before: event }]
  const deleteAll = (): RowChange[] => [{ before: series }, ...exceptions.map((before) => ({ before }))]
  const deleteScope = query.scope ?? (event.id === series.id ? 'all' : 'this')
  if (deleteScope === 'all') return deleteAll()
  const { original, exception } = requestedOccurrence(set, query)
  if (deleteScope === 'this') {
    const known = exception ?? newExceptionRow(series, original, now)
    const after: EventRow = stampChange(
      known,
      { ...known, status: 'cancelled', is_removed: true },
      now,
      highestSequence([series, ...exceptions]),
    )
    return [exception ? { before: exception, after } : { after, occurrenceBefore: known }]
  }
  if (isFirstStart(series, original)) return deleteAll()
  const { kept, rest } = splitSeries({ series, exceptions }, original, now)
  const deletedIds = new Set(rest.exceptions.map(({ id }) => id))
  return [...kept, ...exceptions.filter(({ id }) => deletedIds.has(id)).map((before): RowChange => ({ before }))]
}
