import { type BookingSettings, weekdays } from '#shared/calendar/schemas.ts'
import { problem } from '#shared/kernel/errors.ts'

type Day = (typeof weekdays)[number]
type Span = readonly [string, string]

/** The settings of a booking page, whole: what is left out has its default (decisions, Calendar). */
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

export function bookingPage(settings: BookingSettings | undefined): BookingPage {
  const { enabled = false, title = '', description = '', location = '', durations = [30] } = settings ?? {}
  return {
    ...{ enabled, title, description, location, durations },
    slotStep: settings?.slot_step ?? durations[0] ?? 30,
    buffer: settings?.buffer ?? 0,
    minNotice: settings?.min_notice ?? 60,
    horizonDays: settings?.horizon_days ?? 60,
    hours: (settings?.hours as unknown as BookingPage['hours'] | undefined) ?? officeHours,
  }
}

/** The minutes after midnight of HH:MM. */
export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** Throws VALIDATION_ERROR for hours that end before they begin, or that overlap. */
export function checkBooking({ hours = {}, durations = [] }: BookingSettings): void {
  if (new Set(durations).size !== durations.length)
    throw problem('VALIDATION_ERROR', 'settings.booking.durations must not hold the same item twice')
  for (const day of weekdays) {
    const spans = [...((hours as unknown as BookingPage['hours'])[day] ?? [])].sort((a, b) => minutesOf(a[0]) - minutesOf(b[0]))
    for (const [index, [from, to]] of spans.entries()) {
      const name = `settings.booking.hours.${day}`
      if (minutesOf(to) <= minutesOf(from)) throw problem('VALIDATION_ERROR', `${name}: ${from} to ${to} must end after it begins`)
      const before = spans[index - 1]
      if (before && minutesOf(before[1]) > minutesOf(from)) throw problem('VALIDATION_ERROR', `${name}: ${from} to ${to} overlaps another`)
    }
  }
}
