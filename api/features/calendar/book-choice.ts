import type { BookingPage } from '#shared/features/calendar/booking/settings.ts'
import { requireTimeZone } from '#shared/features/calendar/schemas.ts'
import { dateMs, dateText, dayInZone, instantMs, startOfDay, type TimeWindow, weekdayFromMonday } from '#shared/features/calendar/time.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** The query of a booking page. Each choice of the visitor is a parameter, so that every step has an address. */
export const choiceQuery = schema(
  t.Object({
    tz: t.Optional(t.String({ description: "Time zone of the shown times, a name of the IANA list; default: the calendar's." })),
    duration: t.Optional(t.String({ description: 'Minutes, one of the durations of the page.' })),
    month: t.Optional(t.String({ description: 'The month to show, YYYY-MM.' })),
    day: t.Optional(t.String({ description: 'The day whose times to show, YYYY-MM-DD.' })),
    start: t.Optional(t.String({ description: 'The chosen time: the page then asks for name and email.' })),
    from: t.Optional(t.String({ description: 'Former name of `day`.' })),
  }),
)
export type ChoiceQuery = TypeOf<typeof choiceQuery>

/** The visitor's choices so far, with defaults for missing and malformed ones. The zone is a name of the IANA list. */
export interface BookingChoice {
  readonly zone: string
  /** Whether the address names the zone. Links then repeat it; otherwise the script of the page may choose the browser's zone. */
  readonly isZoneNamed: boolean
  readonly minutes: number
  /** The first and last month with times that can be booked, YYYY-MM. */
  readonly months: readonly [first: string, last: string]
  /** Within `months`. */
  readonly month: string
  /** Whether the visitor asked for this month. */
  readonly isMonthChosen: boolean
  readonly day: string | undefined
  readonly start: number | undefined
}

const monthOf = (day: string): string => day.slice(0, 7)

/** Reads the choices of an address. Throws VALIDATION_ERROR for a `tz` that is not empty and no IANA name. */
export function readChoice(query: ChoiceQuery, page: BookingPage, calendarZone: string, now: number): BookingChoice {
  const isZoneNamed = query.tz !== undefined && query.tz !== ''
  const zone = query.tz ? requireTimeZone(query.tz, 'tz') : calendarZone
  const minutes = page.durations.includes(Number(query.duration)) ? Number(query.duration) : (page.durations[0] ?? 30)
  const dayOf = (at: number): string => dayInZone(at, zone)
  const months = [monthOf(dayOf(now + page.minNotice * minuteMs)), monthOf(dayOf(now + page.horizonDays * dayMs))] as const
  const start = query.start === undefined ? undefined : instantMs(query.start)
  const [namedDay] = [query.day, query.from].filter((day) => day !== undefined && isDay(day))
  const day = start === undefined ? namedDay : dayOf(start)
  const month = day === undefined ? query.month : monthOf(day)
  const isShown = month !== undefined && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) && month >= months[0] && month <= months[1]
  return {
    zone,
    isZoneNamed,
    minutes,
    months,
    month: isShown ? month : months[0],
    isMonthChosen: isShown,
    day: isShown ? day : undefined,
    start,
  }
}

/** The month before or after, YYYY-MM. */
export function neighbouringMonth(month: string, by: 1 | -1): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return monthOf(dateText(Date.UTC(year, number - 1 + by, 1)))
}

/** A month as a time window from now on. */
export const timeWindowOfMonth = ({ month, zone }: Pick<BookingChoice, 'month' | 'zone'>, now: number): TimeWindow => ({
  from: Math.max(startOfDay(`${month}-01`, zone), now),
  to: startOfDay(`${neighbouringMonth(month, 1)}-01`, zone),
})

/** The weeks of a month, Monday first. Days of neighbouring months are undefined. */
export function weeksOf(month: string): (string | undefined)[][] {
  const first = dateMs(`${month}-01`)
  const before = weekdayFromMonday(first / dayMs)
  const length = Math.round((dateMs(`${neighbouringMonth(month, 1)}-01`) - first) / dayMs)
  return Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) =>
    Array.from({ length: 7 }, (__, weekday) => {
      const index = week * 7 + weekday - before
      return index >= 0 && index < length ? dateText(first + index * dayMs) : undefined
    }),
  )
}

/** The address of a step, relative to the page. It carries the length and the zone. */
export function linkToStep(
  { zone, isZoneNamed, minutes }: BookingChoice,
  page: BookingPage,
  step: Readonly<Record<string, string>>,
): string {
  const length = page.durations.length > 1 ? { duration: String(minutes) } : {}
  return `?${new URLSearchParams({ ...step, ...length, ...(isZoneNamed ? { tz: zone } : {}) })}`
}
