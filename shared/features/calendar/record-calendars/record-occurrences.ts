import type { RecordQuery } from '#shared/core/records/query/query.ts'
import { findRecords } from '#shared/core/records/query/search-records.ts'
import type { RecordView } from '#shared/core/records/record.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { type CalendarWithAccess, isAccessAtLeast } from '#shared/features/calendar/access.ts'
import type { BusyTime } from '#shared/features/calendar/availability/busy-times.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { busySpan, timeText } from '#shared/features/calendar/event-time.ts'
import { hiddenTitle } from '#shared/features/calendar/events/access-level.ts'
import type { ListedOccurrence } from '#shared/features/calendar/events/listed-occurrence.ts'
import type { RecordSource } from '#shared/features/calendar/schemas.ts'
import type { ListWindow } from '#shared/features/calendar/series/occurrences.ts'
import { dateMs, type TimeWindow } from '#shared/features/calendar/time.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { hasAmount } from '#shared/platform/kernel/field-type.ts'
import { dayMs, hourMs } from '#shared/platform/kernel/time/units.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Records that one calendar shows in a window: this many that begin in it, and this many that continue into it. */
const maxRecords = 2_000

interface RecordTime {
  readonly record: RecordView
  readonly allDay: boolean
  readonly start: number
  readonly end: number
  readonly title: unknown
}

/**
 * The records of records calendars in a window, as the caller may read them now. A record with a hidden start is left out; one with a
 * hidden title appears as a busy time (docs/contract/calendar.md#record-calendars).
 */
export async function listRecordOccurrences(
  scope: Scope,
  calendars: readonly CalendarWithAccess[],
  window: ListWindow,
  atMost: number,
): Promise<ListedOccurrence[]> {
  const shown: ListedOccurrence[] = []
  for (const { calendar, access } of calendars) {
    if (calendar.kind !== 'records') continue
    for (const time of await listRecordTimes(scope, calendar, window))
      shown.push(occurrence(calendar, time, isAccessAtLeast(access, 'read')))
  }
  return shown.slice(0, atMost)
}

/** The busy times of records calendars, from the records that the caller may read, by calendar id. */
export async function listRecordBusyTimes(
  scope: Scope,
  calendars: readonly Calendar[],
  window: TimeWindow,
): Promise<Map<string, BusyTime[]>> {
  const busy = new Map<string, BusyTime[]>()
  for (const calendar of calendars) {
    if (calendar.kind !== 'records') continue
    busy.set(
      calendar.id,
      (await listRecordTimes(scope, calendar, window)).map((time) => busySpan(time, calendar.timezone)),
    )
  }
  return busy
}

function occurrence({ id, timezone }: Calendar, { record, allDay, start, end, title }: RecordTime, isReader: boolean): ListedOccurrence {
  const details = isReader && title !== undefined
  return {
    from: busySpan({ allDay, start, end }, timezone).start,
    occurrence: {
      event_id: record.id,
      series_id: null,
      calendar_id: id,
      start: timeText(start, allDay),
      end: timeText(end, allDay),
      all_day: allDay,
      title: details ? cutText(String(title ?? ''), 300) : hiddenTitle,
      status: 'confirmed',
      recurring: false,
      details,
    },
  }
}

async function listRecordTimes(scope: Scope, calendar: Calendar, window: ListWindow): Promise<RecordTime[]> {
  const source = calendar.settings.source as RecordSource
  const type = await findRecordType(scope, source.type_key)
  const startField = type?.fieldByKey.get(source.start_field)
  // A type or field that was deleted since leaves the calendar empty.
  if (!type || !startField || !permits(scope, 'records:read', type.key)) return []
  const allDay = startField.type === 'date'
  const endKey = source.end_field && type.fieldByKey.has(source.end_field) ? source.end_field : undefined
  const range = (allDay && window.days) || window
  const margin = allDay && !window.days ? dayMs : 0
  const [from, to] = [timeText(range.from - margin, allDay), timeText(range.to + margin, allDay)]
  const { start_field: field } = source
  const startsInWindow = {
    filter: [
      { field, op: 'gte', value: from },
      { field, op: 'lt', value: to },
    ],
    seeing: [field],
  }
  const found = await findReadableRecords(scope, type.key, startsInWindow)
  const continues = endKey && {
    filter: [
      { field, op: 'lt', value: from },
      { field: endKey, op: allDay ? 'gte' : 'gt', value: from },
    ],
    seeing: [field, endKey],
  }
  const ongoing = continues ? await findReadableRecords(scope, type.key, continues) : []
  return [...found, ...ongoing].flatMap((record) => recordTimeOf(record, source, endKey, allDay) ?? [])
}

/** Finds no records where the caller may never read a field of the query. */
async function findReadableRecords(scope: Scope, typeKey: string, query: RecordQuery): Promise<RecordView[]> {
  try {
    return await findRecords(scope, typeKey, { ...query, limit: maxRecords })
  } catch (error) {
    if (error instanceof Problem && (error.code === 'VALIDATION_ERROR' || error.code === 'FORBIDDEN')) return []
    throw error
  }
}

/** The time of a record: an hour or a day long unless it has an end. Undefined without a start. */
function recordTimeOf(record: RecordView, source: RecordSource, endKey: string | undefined, allDay: boolean): RecordTime | undefined {
  const { values } = record as { values: Readonly<Record<string, unknown>> }
  const read = (value: unknown): number =>
    typeof value === 'string' ? (allDay ? dateMs(value.slice(0, 10)) : Date.parse(value)) : Number.NaN
  const start = read(values[source.start_field])
  if (Number.isNaN(start)) return undefined
  const endOfRecord = endKey === undefined ? Number.NaN : read(values[endKey])
  const defaultEnd = start + (allDay ? dayMs : hourMs)
  // An end date is inclusive.
  const end = Number.isNaN(endOfRecord) || endOfRecord < start ? defaultEnd : allDay ? endOfRecord + dayMs : endOfRecord
  const title = source.title_field ? titleOf(values, source.title_field) : record.id
  return { record, allDay, start, end, title }
}

/** The value of the title field; undefined when the caller may not see it. */
function titleOf(values: Readonly<Record<string, unknown>>, key: string): unknown {
  if (!Object.hasOwn(values, key)) return undefined
  const value = values[key]
  return hasAmount(value) ? value.amount : value
}
