import { type FileZone, zoneByName, zoneByOffsets } from '#shared/features/calendar/ics/file-zones.ts'
import type { JcalProperty } from '#shared/features/calendar/ics/jcal.ts'
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

/** The lengths of the periods of a property, in milliseconds; empty for other value types. */
export function periodLengths([, , type, ...values]: JcalProperty): number[] {
  if (type !== 'period') return []
  return values.flatMap((period) => {
    const [start, end] = Array.isArray(period) ? period.map(String) : []
    const length = durationMs(end ?? '') ?? Date.parse(end ?? '') - Date.parse(start ?? '')
    return Number.isNaN(length) ? [] : [length]
  })
}

/** The IANA zone of a time: by name, else by the offsets of the file's zone up to the local time `until`; undefined for no match. */
export function zoneOfTime({ tzid, wall, isUtc }: FileTime, until: number, zoneLookup: ZoneLookup): string | undefined {
  if (isUtc) return 'UTC'
  if (tzid === undefined) return zoneLookup.floating
  const named = zoneByName(tzid)
  if (named) return named
  const zone = zoneLookup.inFile.get(tzid)
  return zone ? zoneByOffsets(tzid, zone, wall, until, zoneLookup.preferred) : zoneLookup.floating
}

/** The instant of a time in epoch milliseconds: by its IANA zone, or without one by the offset that the file gives. */
export function instantOfFileTime(time: FileTime, zone: string | undefined, zoneLookup: ZoneLookup): number {
  if (time.isUtc) return time.wall
  if (zone !== undefined) return fromWallClock(time.wall, zone)
  return time.wall - (zoneLookup.inFile.get(time.tzid ?? '')?.(time.wall) ?? 0)
}

/** The length of a DURATION in milliseconds; undefined when the text is not one. Days count 24 hours. */
export function durationMs(text: string): number | undefined {
  const [, sign, weeks, days, hours, minutes, seconds] =
    /^([+-])?P(?=\d|T\d)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/i.exec(text.trim()) ?? []
  if ([weeks, days, hours, minutes, seconds].every((part) => part === undefined)) return undefined
  const n = (part: string | undefined) => Number(part ?? 0)
  const ms = (n(weeks) * 7 + n(days)) * dayMs + ((n(hours) * 60 + n(minutes)) * 60 + n(seconds)) * 1_000
  return sign === '-' ? -ms : ms
}
