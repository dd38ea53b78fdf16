import { requireTimeZone } from '#shared/features/calendar/schemas.ts'
import {
  dateMs,
  dateText,
  fromWallClock,
  instantMs,
  instantText,
  requireSupportedTime,
  startOfDay,
  toWallClock,
  zoneRelease,
} from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { dayMs, hourMs } from '#shared/platform/kernel/time/units.ts'

/**
 * The time of an event, in milliseconds since 1970. An all-day event has dates, not instants: `start` and `end` are the midnights in UTC
 * of its first day and of the day after its last, whatever its zone.
 */
export interface EventTime {
  readonly allDay: boolean
  readonly start: number
  readonly end: number
  readonly zone: string
}

/** The time fields of a request. */
interface EventTimeInput {
  readonly start?: string
  readonly end?: string
  readonly all_day?: boolean
  readonly timezone?: string
}

/**
 * Merges the time fields of a request into the known time: `start` alone keeps the length, and a change from all-day to timed or back
 * needs a new start. Throws VALIDATION_ERROR naming the field and the rule.
 */
export function readEventTime(sent: EventTimeInput, known: EventTime | undefined, zone: string): EventTime {
  const timezone = sent.timezone === undefined ? (known?.zone ?? zone) : requireTimeZone(sent.timezone)
  const isStartDate = sent.start === undefined ? undefined : isDay(sent.start)
  const allDay = sent.all_day ?? isStartDate ?? known?.allDay ?? false
  const was = known?.allDay === allDay ? known : undefined
  if (sent.start === undefined && !was) throw problem('VALIDATION_ERROR', 'start is required')
  const start = sent.start === undefined ? (was as EventTime).start : readTime('start', sent.start, allDay)
  const end = readEnd(sent, start, was, allDay)
  if (end < start) throw problem('VALIDATION_ERROR', 'end must not be before start')
  return { allDay, start, end, zone: timezone }
}

function readEnd(sent: EventTimeInput, start: number, was: EventTime | undefined, allDay: boolean): number {
  if (sent.end !== undefined) {
    const end = readTime('end', sent.end, allDay)
    // An all-day event whose end equals its start takes one day (docs/contract/calendar.md#times).
    return allDay && end === start ? start + dayMs : end
  }
  if (was) return start + (was.end - was.start)
  return start + (allDay ? dayMs : hourMs)
}

/** Reads a start or an end. Throws VALIDATION_ERROR naming it and the rule. */
export function readTime(name: string, text: string, allDay: boolean): number {
  if (allDay) {
    const day = isDay(text) ? text : dateInOwnOffset(text)
    if (day === undefined) throw problem('VALIDATION_ERROR', `${name} must be YYYY-MM-DD for an all-day event`)
    return requireSupportedTime(dateMs(day), name)
  }
  const ms = instantMs(text)
  if (ms === undefined) throw problem('VALIDATION_ERROR', `${name} must be an RFC 3339 instant, such as 2026-03-01T09:00:00Z`)
  return requireSupportedTime(ms, name)
}

/** The date of an instant in its own offset; undefined for any other text. */
const dateInOwnOffset = (text: string): string | undefined => (instantMs(text) === undefined ? undefined : text.slice(0, 10))

/** A time as answers show it: an instant in UTC, or a date for an all-day event. */
export const timeText = (ms: number, allDay: boolean): string => (allDay ? dateText(ms) : instantText(ms))

/** The instants between which an event takes time; an all-day event lasts from midnight to midnight in a zone. */
export const busySpan = ({ allDay, start, end }: Pick<EventTime, 'allDay' | 'start' | 'end'>, zone: string) =>
  allDay ? { start: startOfDay(dateText(start), zone), end: startOfDay(dateText(end), zone) } : { start, end }

/** The local time (`toWallClock`) in the event's zone; dates stay as they are. */
export const wallClockOf = ({ allDay, zone }: Pick<EventTime, 'allDay' | 'zone'>, ms: number): number =>
  allDay ? ms : toWallClock(ms, zone)

/** The inverse of `wallClockOf`: the time of a local time in a zone. */
export const instantOfWallClock = ({ allDay, zone }: Pick<EventTime, 'allDay' | 'zone'>, wall: number): number =>
  allDay ? wall : fromWallClock(wall, zone)

/** The table columns of an event's time. */
export const eventTimeColumns = (when: EventTime) => ({
  start_at: when.allDay ? null : instantText(when.start),
  end_at: when.allDay ? null : instantText(when.end),
  start_date: when.allDay ? dateText(when.start) : null,
  end_date: when.allDay ? dateText(when.end) : null,
  timezone: when.zone,
  wall_start: new Date(wallClockOf(when, when.start)).toISOString().slice(0, -1),
  zone_release: zoneRelease,
})
