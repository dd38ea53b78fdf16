import { type FileZone, zoneByName, zoneByOffsets } from '#shared/features/calendar/ics/file-zones.ts'
import type { JcalProperty } from '#shared/features/calendar/ics/jcal.ts'
import type { TakeSteps } from '#shared/features/calendar/series/rule-days.ts'
import { fromWallClock, requireSupportedTime } from '#shared/features/calendar/time.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** A time as a file writes it: a date, or a local time in UTC, in a zone, or floating. */
export interface FileTime {
  readonly wall: number
  readonly isDate: boolean
  readonly isUtc: boolean
  readonly tzid: string | undefined
}

/** The zones with which the times of a file are read. */
export interface ZoneLookup {
  readonly inFile: ReadonlyMap<string, FileZone>
  /** The zone of floating times: X-WR-TIMEZONE, else the calendar's. */
  readonly floating: string
  /** Zones that are tried first when a zone is matched by its offsets. */
  readonly preferred: readonly string[]
  /** Counts the steps of reading the file. */
  readonly take: TakeSteps
}

/** ical.js turns a date without VALUE=DATE (`DTSTART:20041225`) into `2004-12-25T::`, and a time without seconds into `T10:00:`. */
const timePattern = /^(\d{4})-?(\d{2})-?(\d{2})(?:T::|T(\d{2}):?(\d{2}):?(\d{2})?(Z)?)?$/

/** The times of a property; of a period its start. Throws an Error for a value that is not a time. */
export function timesOf([name, parameters, type, ...values]: JcalProperty): FileTime[] {
  const starts = type === 'period' ? values.map((period) => (Array.isArray(period) ? period[0] : period)) : values.flat()
  return starts.map((value) => {
    const text = String(value).split('/')[0] ?? ''
    const [, year, month, day, hour, minute, second, utc] = timePattern.exec(text.trim()) ?? []
    if (year === undefined || !isDay(`${year}-${month}-${day}`)) throw new Error(`${name.toUpperCase()} is no time: ${cutText(text, 60)}`)
    const isDate = hour === undefined || type === 'date'
    if (!isDate && (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 60))
      throw new Error(`${name.toUpperCase()} is no time: ${text}`)
    const clock = isDate ? 0 : ((Number(hour) * 60 + Number(minute)) * 60 + Math.min(59, Number(second ?? 0))) * 1_000
    const wall = requireSupportedTime(Date.parse(`${year}-${month}-${day}T00:00:00Z`) + clock, name.toUpperCase())
    return { wall, isDate, isUtc: utc !== undefined, tzid: typeof parameters.tzid === 'string' ? parameters.tzid : undefined }
  })
}

/** Whether a time names a zone that is neither known nor described in its file, so that it is read in the floating zone. */
export const isZoneUnknown = ({ tzid, isUtc }: FileTime, { inFile }: ZoneLookup): boolean =>
  tzid !== undefined && !isUtc && zoneByName(tzid) === undefined && !inFile.has(tzid)

/** The IANA zone of a time: of a zone that the file describes by its offsets up to the local time `until`, else by name; undefined for none. */
export function zoneOfTime({ tzid, wall, isUtc }: FileTime, until: number, zoneLookup: ZoneLookup): string | undefined {
  if (isUtc) return 'UTC'
  if (tzid === undefined) return zoneLookup.floating
  const zone = zoneLookup.inFile.get(tzid)
  return zone ? zoneByOffsets(tzid, zone, wall, until, zoneLookup.preferred, zoneLookup.take) : (zoneByName(tzid) ?? zoneLookup.floating)
}

/** The instant of a time in epoch milliseconds: by its IANA zone, or without one by the offset that the file gives. */
export function instantOfFileTime(time: FileTime, zone: string | undefined, zoneLookup: ZoneLookup): number {
  if (time.isUtc) return time.wall
  if (zone !== undefined) return fromWallClock(time.wall, zone)
  return time.wall - (zoneLookup.inFile.get(time.tzid ?? '')?.offsetAt(time.wall) ?? 0)
}

/** A DURATION (RFC 5545, 3.3.6). Weeks and days count by the clock, the rest exactly; both may be negative. */
export interface Duration {
  readonly days: number
  readonly ms: number
}

/** Reads a DURATION; undefined when the text is not one. */
export function readDuration(text: string): Duration | undefined {
  const [, sign, weeks, days, hours, minutes, seconds] =
    /^([+-])?P(?=\d|T\d)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/i.exec(text.trim()) ?? []
  if ([weeks, days, hours, minutes, seconds].every((part) => part === undefined)) return undefined
  const n = (part: string | undefined) => Number(part ?? 0)
  const factor = sign === '-' ? -1 : 1
  return { days: factor * (n(weeks) * 7 + n(days)), ms: factor * ((n(hours) * 60 + n(minutes)) * 60 + n(seconds)) * 1_000 }
}

/** The instant at the end of a duration that begins at a local time: its days by the clock of the zone, then the rest. */
export function instantAfter(time: FileTime, zone: string | undefined, { days, ms }: Duration, zoneLookup: ZoneLookup): number {
  const wall = requireSupportedTime(time.wall + days * dayMs, 'The end of DURATION')
  return instantOfFileTime({ ...time, wall }, zone, zoneLookup) + ms
}

/** The periods of a property: their starts, and their ends or durations. Empty for other value types. */
export function periodsOf([name, parameters, type, ...values]: JcalProperty): { start: FileTime; end: FileTime | Duration }[] {
  if (type !== 'period') return []
  return values.flatMap((period) => {
    const [start, end] = Array.isArray(period) ? period.map(String) : String(period).split('/')
    const timeOf = (text: string) => timesOf([name, parameters, 'date-time', text])[0]
    const [from, to] = [timeOf(start ?? ''), readDuration(end ?? '') ?? timeOf(end ?? '')]
    return from && to ? [{ start: from, end: to }] : []
  })
}
