import { type BookingSettings, bookingWeekdays } from '#shared/features/calendar/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

type Day = (typeof bookingWeekdays)[number]
type Span = readonly [string, string]

/**
 * The complete settings of a booking page, with defaults for what was left out (docs/contract/calendar.md#booking-settings). Times are
 * minutes.
 */
export interface BookingPage {
  readonly enabled: boolean
  readonly title: string
  readonly description: string
  readonly location: string
  readonly durations: readonly number[]
  readonly slotStep: number
  readonly buffer: number
  readonly minNotice: number
  readonly horizonDays: number
  readonly hours: Readonly<Partial<Record<Day, readonly Span[]>>>
}

const workdays: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri']
const officeHours = Object.fromEntries(workdays.map((day) => [day, [['09:00', '17:00']]])) as BookingPage['hours']

/** Fills in the defaults: 30-minute slots from 09:00 to 17:00 on workdays, 60 minutes of notice, 60 days ahead. */
export function bookingPageOf(settings: BookingSettings | undefined): BookingPage {
  const { enabled = false, title = '', description = '', location = '', durations = [30] } = settings ?? {}
  return {
    enabled,
    title,
    description,
    location,
    durations,
    slotStep: settings?.slot_step ?? durations[0] ?? 30,
    buffer: settings?.buffer ?? 0,
    minNotice: settings?.min_notice ?? 60,
    horizonDays: settings?.horizon_days ?? 60,
    hours: (settings?.hours as unknown as BookingPage['hours'] | undefined) ?? officeHours,
  }
}

/** Minutes after midnight of a time written as HH:MM. */
export const minutesAfterMidnight = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** Throws VALIDATION_ERROR for hours that end before they begin or that overlap, and for repeated durations. */
export function checkBookingSettings({ hours = {}, durations = [] }: BookingSettings): void {
  if (new Set(durations).size !== durations.length)
    throw problem('VALIDATION_ERROR', 'settings.booking.durations must not hold the same item twice')
  for (const day of bookingWeekdays) {
    const spans = [...((hours as unknown as BookingPage['hours'])[day] ?? [])].sort(
      (a, b) => minutesAfterMidnight(a[0]) - minutesAfterMidnight(b[0]),
    )
    for (const [index, [from, to]] of spans.entries()) {
      const name = `settings.booking.hours.${day}`
      if (minutesAfterMidnight(to) <= minutesAfterMidnight(from))
        throw problem('VALIDATION_ERROR', `${name}: ${from} to ${to} must end after it begins`)
      const before = spans[index - 1]
      if (before && minutesAfterMidnight(before[1]) > minutesAfterMidnight(from))
        throw problem('VALIDATION_ERROR', `${name}: ${from} to ${to} overlaps another`)
    }
  }
}
