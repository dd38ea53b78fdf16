import { Temporal } from 'temporal-polyfill'
import { type BookingPage, minutesOf } from '#shared/calendar/booking/settings.ts'
import { weekdays } from '#shared/calendar/schemas.ts'
import { dateText, dayMs, minuteMs, type Window, wallMs } from '#shared/calendar/time.ts'

/**
 * The hours of a page as instants, day by day. Edges go by the clock: one that a clock change skips is at the change; of an hour that comes
 * twice the first start and the last end count (decisions, Calendar).
 */
export function* openWindows({ hours }: Pick<BookingPage, 'hours'>, zone: string, { from, to }: Window): Generator<Window> {
  const first = Date.parse(`${dateText(wallMs(from, zone))}T00:00:00Z`)
  for (let day = first; edge(day, zone, 'earlier') < to; day += dayMs) {
    const name = weekdays[(new Date(day).getUTCDay() + 6) % 7]
    for (const [opens, closes] of (name && hours[name]) || []) {
      const window = {
        from: edge(day + minutesOf(opens) * minuteMs, zone, 'earlier'),
        to: closing(day + minutesOf(closes) * minuteMs, zone),
      }
      if (window.to > window.from) yield window
    }
  }
}

/** When hours are over: right after the last time at which the clock shows less. */
function closing(wall: number, zone: string): number {
  const last = wall - 1
  const at = edge(last, zone, 'later')
  return wallMs(at, zone) === last ? at + 1 : at
}

/** The instant of a reading of the clock. */
function edge(wall: number, zone: string, which: 'earlier' | 'later'): number {
  const reading = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime()
  const at = reading.toZonedDateTime(zone, { disambiguation: which })
  if (wallMs(at.epochMilliseconds, zone) === wall) return at.epochMilliseconds
  const before = reading.toZonedDateTime(zone, { disambiguation: 'earlier' })
  return before.getTimeZoneTransition('next')?.epochMilliseconds ?? at.epochMilliseconds
}
