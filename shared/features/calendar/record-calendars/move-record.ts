import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { getRecord } from '#shared/core/records/read.ts'
import { permits, requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import type { RecordMoveInput } from '#shared/features/calendar/record-calendars/schemas.ts'
import type { RecordSource } from '#shared/features/calendar/schemas.ts'
import { instantMs, instantText } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/**
 * Moves a record of a records calendar to another time. Needs write access to the calendar, records:update on the record, and read access
 * to the fields it writes (docs/contract/calendar.md#moving-a-record). Throws NOT_FOUND, FORBIDDEN, VALIDATION_ERROR, and as `changeRecord`
 * does.
 */
export async function moveRecord(
  scope: Scope,
  calendarId: string,
  recordId: string,
  { start, end }: RecordMoveInput,
): Promise<{ moved: true }> {
  const { calendar } = await requireCalendar(scope, calendarId, 'busy')
  if (calendar.kind !== 'records') throw problem('NOT_FOUND')
  const source = calendar.settings.source as RecordSource
  const type = isUuid(recordId) ? await findRecordType(scope, source.type_key) : undefined
  const field = type?.fieldByKey.get(source.start_field)
  if (!type || !field || !permits(scope, 'records:read', type.key)) throw problem('NOT_FOUND')
  const { values } = await getRecord(scope, type.key, recordId)
  if (!Object.hasOwn(values, source.start_field)) throw problem('NOT_FOUND')
  await requireCalendar(scope, calendarId, 'write')
  if (end !== undefined && !source.end_field) throw problem('VALIDATION_ERROR', 'end must be left out: the calendar has no end field')
  if (end !== undefined && !Object.hasOwn(values, source.end_field ?? ''))
    throw problem('FORBIDDEN', `Needs records:read of ${source.end_field} on ${type.key}`)
  requirePermission(scope, 'records:update', type.key)
  const isDate = field.type === 'date'
  const from = readTime('start', start, isDate)
  const to = end === undefined ? undefined : readTime('end', end, isDate)
  if (to !== undefined && to < from) throw problem('VALIDATION_ERROR', 'end must not be before start')
  await changeRecord(scope, type, recordId, {
    [source.start_field]: from,
    ...(to === undefined ? {} : { [source.end_field ?? '']: to }),
  })
  return { moved: true }
}

/** A time in the form of the field: a date, or an instant. For a datetime field, a date is midnight UTC. */
function readTime(name: string, text: string, isDate: boolean): string {
  const ms = isDay(text) ? Date.parse(`${text}T00:00:00Z`) : instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `${name} must be an RFC 3339 instant or YYYY-MM-DD`)
  return isDate ? text.slice(0, 10) : instantText(ms)
}
