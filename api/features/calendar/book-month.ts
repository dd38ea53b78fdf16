import { type BookingChoice, linkToStep, neighbouringMonth, weeksOf } from '#api/features/calendar/book-choice.ts'
import type { BookingPage } from '#shared/features/calendar/booking/settings.ts'
import { dateMs, dayInZone, instantText } from '#shared/features/calendar/time.ts'
import { dayInWords, timeOfDayInWords, timeOfDayWithOffset } from '#shared/features/calendar/time-in-words.ts'

/** A day of the month grid. `link` is empty when no time is free. */
interface Day {
  readonly number: number
  readonly label: string
  readonly link: string
  readonly isShown: boolean
}

/** Times of one part of a day. */
interface Part {
  readonly name: string
  readonly times: readonly { readonly label: string; readonly link: string }[]
}

/** The month and the times of one day, as the template draws them. */
export interface MonthView {
  readonly name: string
  /** Undefined outside the bookable months. */
  readonly earlier: { readonly name: string; readonly link: string } | undefined
  readonly later: { readonly name: string; readonly link: string } | undefined
  readonly weeks: readonly (readonly (Day | undefined)[])[]
  /** Address of the month without a chosen day. */
  readonly link: string
  readonly hasTimes: boolean
  /** Name of the chosen day, otherwise of the first day with free times; empty for none. */
  readonly day: string
  readonly parts: readonly Part[]
  /** Whether the parts are folded to keep the page short. */
  readonly isFolded: boolean
}

/** A day with more times than this has its parts folded. */
const maxUnfoldedTimes = 24

const monthWords = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const nameOf = (month: string): string => monthWords.format(dateMs(`${month}-01`))

/** Groups the slots of a month by their day in the zone, in order. */
export const groupByDay = (slots: readonly number[], zone: string): Map<string, number[]> => Map.groupBy(slots, (at) => dayInZone(at, zone))

export function monthView(choice: BookingChoice, page: BookingPage, days: ReadonlyMap<string, readonly number[]>): MonthView {
  const { month, months, zone } = choice
  const shown = choice.day ?? days.keys().next().value
  const times = (shown === undefined ? undefined : days.get(shown)) ?? []
  const neighbour = (by: 1 | -1) => {
    const other = neighbouringMonth(month, by)
    if (other < months[0] || other > months[1]) return undefined
    return { name: nameOf(other), link: linkToStep(choice, page, { month: other }) }
  }
  const dayOf = (day: string | undefined): Day | undefined => {
    if (day === undefined) return undefined
    const free = days.get(day)?.length ?? 0
    const words = dayInWords(dateMs(day), 'UTC')
    return {
      number: Number(day.slice(8)),
      label: `${words}, ${free} free ${free === 1 ? 'time' : 'times'}`,
      link: free === 0 ? '' : linkToStep(choice, page, { day }),
      isShown: day === shown,
    }
  }
  return {
    name: nameOf(month),
    earlier: neighbour(-1),
    later: neighbour(1),
    link: linkToStep(choice, page, { month }),
    weeks: weeksOf(month).map((week) => week.map(dayOf)),
    hasTimes: days.size > 0,
    day: shown === undefined ? '' : dayInWords(dateMs(shown), 'UTC'),
    parts: partsOf(times, zone).map(({ name, slots }) => ({
      name,
      times: slots.map(({ at, label }) => ({ label, link: linkToStep(choice, page, { start: instantText(at) }) })),
    })),
    isFolded: times.length > maxUnfoldedTimes,
  }
}

const partNames = ['Night', 'Morning', 'Afternoon', 'Evening']

/** Groups the slots of a day by parts of six hours. Slots with equal labels, when clocks are set back, show their UTC offset. */
function partsOf(slots: readonly number[], zone: string) {
  const read = slots.map((at) => ({ at, label: timeOfDayInWords(at, zone) }))
  const byLabel = Map.groupBy(read, ({ label }) => label)
  const labelled = read.map(({ at, label }) => ({
    at,
    label: (byLabel.get(label)?.length ?? 0) > 1 ? timeOfDayWithOffset(at, zone) : label,
  }))
  const groups = Map.groupBy(labelled, ({ label }) => partNames[Math.floor(Number(label.slice(0, 2)) / 6)] ?? '')
  return [...groups].map(([name, ofPart]) => ({ name, slots: ofPart }))
}

/** The times of a day as options, for a form that is shown again because its time was taken. */
export const timeOptions = (slots: readonly number[], zone: string) =>
  partsOf(slots, zone).flatMap(({ slots: ofPart }) => ofPart.map(({ at, label }) => ({ value: instantText(at), label })))

/** A length in words: `45 min`, `1 h`, `1 h 30 min`. */
export function durationInWords(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : ''].filter(Boolean).join(' ')
}
