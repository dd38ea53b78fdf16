import { type EventTime, eventTimeColumns, readEventTime } from '#shared/features/calendar/event-time.ts'
import { eventTimeOf, seriesOf, takesPlace } from '#shared/features/calendar/events/event.ts'
import type { EventChange } from '#shared/features/calendar/events/schemas.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { requireComputableRule } from '#shared/features/calendar/series/expand.ts'
import { readRule } from '#shared/features/calendar/series/rule.ts'
import { moveRepeats } from '#shared/features/calendar/series/shift.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Fields of a change that are columns of the same name. */
export const plainKeys = ['title', 'description', 'location', 'color', 'status', 'visibility'] as const

/**
 * Applies the sent fields to an event row. When a series moves and no new rule was sent, its repeats move by the same distance. Throws
 * VALIDATION_ERROR naming the field.
 */
export function applyChange(row: EventRow, change: EventChange): EventRow {
  const before = eventTimeOf(row)
  const when = readEventTime(change, before, row.timezone)
  if (isSameTime(before, when)) return applyDetails(row, change)
  const repeats = change.recurrence === undefined ? moveRepeats(row, when) : {}
  return applyDetails({ ...row, ...eventTimeColumns(when), ...repeats }, change)
}

/** Applies the sent fields other than the time. Throws VALIDATION_ERROR naming the field. */
export function applyDetails(row: EventRow, change: EventChange): EventRow {
  const changed: EventRow = {
    ...row,
    ...sentOf(change, plainKeys),
    ...(change.reminders === undefined ? {} : { reminders: change.reminders }),
    ...(change.recurrence === undefined ? {} : readRepeats(change.recurrence)),
    ...recordLink(row, change),
  }
  const series = seriesOf(changed)
  if (series) requireComputableRule(series)
  return changed
}

/** The fields of a change among these that were sent. */
export const sentOf = (change: EventChange, keys: readonly (keyof EventChange)[]): EventChange =>
  Object.fromEntries(keys.flatMap((key) => (change[key] === undefined ? [] : [[key, change[key]]])))

const readRepeats = (recurrence: string | null) => ({
  recurrence: recurrence === null || recurrence.trim() === '' ? null : readRule(recurrence),
  rdates: [],
  exdates: [],
})

/** The link to a record. Throws VALIDATION_ERROR when only one of type and id is set. */
function recordLink(row: EventRow, { record_type, record_id }: EventChange): Pick<EventRow, 'record_type' | 'record_id'> {
  const type = (record_type === undefined ? row.record_type : record_type) || null
  const id = (record_id === undefined ? row.record_id : record_id) || null
  if ((type === null) !== (id === null)) throw problem('VALIDATION_ERROR', 'record_type and record_id must be sent together')
  if (id !== null && !isUuid(id)) throw problem('VALIDATION_ERROR', 'record_id must be the id of a record')
  return { record_type: type, record_id: id?.toLowerCase() ?? null }
}

export const isSameTime = (a: EventTime, b: EventTime): boolean =>
  a.allDay === b.allDay && a.start === b.start && a.end === b.end && a.zone === b.zone

/**
 * Whether a change raises the iCalendar SEQUENCE: the time, the rule, the added or excluded starts changed, or the event was cancelled or
 * restored.
 */
export const isSignificant = (before: EventRow, after: EventRow): boolean =>
  !isSameTime(eventTimeOf(before), eventTimeOf(after)) ||
  before.recurrence !== after.recurrence ||
  before.rdates.join() !== after.rdates.join() ||
  before.exdates.join() !== after.exdates.join() ||
  takesPlace(before) !== takesPlace(after)

/**
 * Sets `sequence`, `timed_at` and `updated_at` of a changed event. A significant change raises SEQUENCE above both the event's and
 * `last`. A change of time, rule or reminders resets `timed_at`, from which reminders count.
 */
export function stampChange(before: EventRow, after: EventRow, now: Date, last = before.sequence): EventRow {
  const changedAt = now.toISOString()
  const isRescheduled =
    !isSameTime(eventTimeOf(before), eventTimeOf(after)) ||
    before.recurrence !== after.recurrence ||
    before.reminders?.join() !== after.reminders?.join()
  return {
    ...after,
    sequence: isSignificant(before, after) ? Math.max(before.sequence, last) + 1 : before.sequence,
    timed_at: isRescheduled ? changedAt : before.timed_at,
    updated_at: changedAt,
  }
}

/** Whether guests must answer again: only after a change of the time or the rule. */
export const needsNewAnswers = (before: EventRow, after: EventRow): boolean =>
  !isSameTime({ ...eventTimeOf(before), zone: '' }, { ...eventTimeOf(after), zone: '' }) || before.recurrence !== after.recurrence
