import type { EventRow } from '#shared/calendar/event.ts'
import { seriesOf, whenOf } from '#shared/calendar/event.ts'
import type { EventChange } from '#shared/calendar/event-schemas.ts'
import { requireFollowable } from '#shared/calendar/expand.ts'
import { readRule } from '#shared/calendar/rule.ts'
import { requireZone } from '#shared/calendar/schemas.ts'
import { movedRepeats } from '#shared/calendar/shift.ts'
import { readWhen, type When, whenColumns } from '#shared/calendar/when.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'

/** What of a change stands in columns of the event under the same name. */
const plainKeys = ['title', 'description', 'location', 'color', 'status', 'visibility'] as const

/**
 * An event with what was sent of it: the parts that are plain, its time and its repeats. A series that moves takes its repeats along.
 * Throws VALIDATION_ERROR that names the field.
 */
export function applyChange(row: EventRow, change: EventChange): EventRow {
  const plain = Object.fromEntries(plainKeys.flatMap((key) => (change[key] === undefined ? [] : [[key, change[key]]])))
  if (change.timezone !== undefined) requireZone(change.timezone)
  const before = whenOf(row)
  const when = readWhen(change, before, row.timezone)
  const isMoved = !isSameTime(before, when)
  const repeats =
    isMoved && change.recurrence === undefined
      ? movedRepeats(row, when)
      : { recurrence: row.recurrence, rdates: row.rdates, exdates: row.exdates }
  const changed: EventRow = {
    ...row,
    ...plain,
    ...(isMoved ? whenColumns(when) : {}),
    ...(change.reminders === undefined ? {} : { reminders: change.reminders }),
    ...(change.recurrence === undefined ? repeats : newRepeats(change.recurrence)),
    ...linkOf(row, change),
  }
  const series = seriesOf(changed)
  if (series) requireFollowable(series)
  return changed
}

const newRepeats = (recurrence: string | null) => ({
  recurrence: recurrence === null || recurrence.trim() === '' ? null : readRule(recurrence),
  rdates: [],
  exdates: [],
})

/** The link to a record: its type and its id come together. */
function linkOf(row: EventRow, { record_type, record_id }: EventChange): Pick<EventRow, 'record_type' | 'record_id'> {
  const type = (record_type === undefined ? row.record_type : record_type) || null
  const id = (record_id === undefined ? row.record_id : record_id) || null
  if ((type === null) !== (id === null)) throw problem('VALIDATION_ERROR', 'record_type and record_id must be sent together')
  if (id !== null && !isUuid(id)) throw problem('VALIDATION_ERROR', 'record_id must be the id of a record')
  return { record_type: type, record_id: id }
}

export const isSameTime = (a: When, b: When): boolean =>
  a.allDay === b.allDay && a.start === b.start && a.end === b.end && a.zone === b.zone

/** Whether a change is one that calendars count by SEQUENCE: of the time, the repeats, or whether it takes place. */
export function isSignificant(before: EventRow, after: EventRow): boolean {
  const isCancelled = (row: EventRow) => row.status === 'cancelled' || row.is_removed
  return (
    !isSameTime(whenOf(before), whenOf(after)) ||
    before.recurrence !== after.recurrence ||
    before.rdates.join() !== after.rdates.join() ||
    before.exdates.join() !== after.exdates.join() ||
    isCancelled(before) !== isCancelled(after)
  )
}

/**
 * Stamps a changed event before it is written. A significant change raises SEQUENCE above that of the event and above `last`. A new time
 * resets the time from which reminders count.
 */
export function stamped(before: EventRow, after: EventRow, now: Date, last = before.sequence): EventRow {
  const at = now.toISOString()
  const isTimed =
    !isSameTime(whenOf(before), whenOf(after)) ||
    before.recurrence !== after.recurrence ||
    before.reminders?.join() !== after.reminders?.join()
  return {
    ...after,
    sequence: isSignificant(before, after) ? Math.max(before.sequence, last) + 1 : before.sequence,
    timed_at: isTimed ? at : before.timed_at,
    updated_at: at,
  }
}

/** Whether guests have to answer again: a new time asks again, anything else keeps what they said. */
export const asksAgain = (before: EventRow, after: EventRow): boolean =>
  !isSameTime({ ...whenOf(before), zone: '' }, { ...whenOf(after), zone: '' }) || before.recurrence !== after.recurrence
