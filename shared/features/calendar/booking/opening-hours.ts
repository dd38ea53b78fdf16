import { Temporal } from 'temporal-polyfill'
import { type BookingPage, minutesAfterMidnight } from '#shared/features/calendar/booking/settings.ts'
import { bookingWeekdays } from '#shared/features/calendar/schemas.ts'
import { dateText, dayMs, minuteMs, type TimeWindow, toWallClock } from '#shared/features/calendar/time.ts'

/**
 * The hours of a page as instants, day by day. Edges are local times. An edge that a clock change skips moves to the change; in an hour
 * that repeats, the first start and the last end count (decisions, Calendar).
 */
export function* openingHours({ hours }: Pick<BookingPage, 'hours'>, zone: string, { from, to }: TimeWindow): Generator<TimeWindow> {
  const first = Date.parse(`${dateText(toWallClock(from, zone))}T00:00:00Z`)
  for (let day = first; instantOfEdge(day, zone, 'earlier') < to; day += dayMs) {
    const name = bookingWeekdays[(new Date(day).getUTCDay() + 6) % 7]
    for (const [opens, closes] of (name && hours[name]) || []) {
      const window = {
        from: instantOfEdge(day + minutesAfterMidnight(opens) * minuteMs, zone, 'earlier'),
        to: closingInstant(day + minutesAfterMidnight(closes) * minuteMs, zone),
      }
      if (window.to > window.from) yield window
    }
  }
}

/** The instant at which hours end: right after the last moment whose local time is earlier. */
function closingInstant(wall: number, zone: string): number {
  const last = wall - 1
  const at = instantOfEdge(last, zone, 'later')
  return toWallClock(at, zone) === last ? at + 1 : at
}

/** The instant of a local time: `which` one where a clock change repeats it, the change itself where it skips it. */
function instantOfEdge(wall: number, zone: string, which: 'earlier' | 'later'): number {
  const localTime = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  const at = localTime.toZonedDateTime(zone, { disambiguation: which })
  if (toWallClock(at.epochMilliseconds, zone) === wall) return at.epochMilliseconds
  const before = localTime.toZonedDateTime(zone, { disambiguation: 'earlier' })
  return before.getTimeZoneTransition('next')?.epochMilliseconds ?? at.epochMilliseconds
}
