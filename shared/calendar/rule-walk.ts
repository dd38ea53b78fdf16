import { partsOf, type RuleParts } from '#shared/calendar/rule.ts'
import { dayFilter, daysOfYear, type Take, weekdayNumber, weekdayOf } from '#shared/calendar/rule-days.ts'
import { dayMs } from '#shared/calendar/time.ts'

/** A rule with its first reading of the clock, in milliseconds of UTC. */
interface Walk {
  readonly filter: string
  readonly freq: string
  readonly interval: number
  /** Milliseconds after midnight at which a day's starts are, in order. */
  readonly times: readonly number[]
  readonly positions: readonly number[]
  readonly weekStart: number
  readonly first: number
}

const numbers = (text: string | undefined): number[] => (text === undefined ? [] : text.split(',').map(Number))

function walkOf(parts: RuleParts, first: number, allDay: boolean): Walk {
  const at = new Date(first)
  const clock = (name: string, otherwise: number) => (parts.has(name) && !allDay ? numbers(parts.get(name)) : [otherwise])
  const times = clock('BYHOUR', at.getUTCHours()).flatMap((hour) =>
    clock('BYMINUTE', at.getUTCMinutes()).flatMap((minute) =>
      clock('BYSECOND', at.getUTCSeconds()).map((second) => ((hour * 60 + minute) * 60 + second) * 1_000),
    ),
  )
  return {
    filter: dayFilter(parts, Math.floor(first / dayMs)),
    freq: parts.get('FREQ') ?? 'DAILY',
    interval: Number(parts.get('INTERVAL') ?? 1),
    times: [...new Set(times)].sort((a, b) => a - b),
    positions: numbers(parts.get('BYSETPOS')),
    weekStart: weekdayNumber(parts.get('WKST') ?? 'MO'),
    first,
  }
}

/** The number of the period that a day lies in, counted from some other one. */
function periodOf(walk: Walk, day: number): number {
  const { freq } = walk
  if (freq === 'DAILY') return day
  if (freq === 'WEEKLY') return Math.floor(startOfPeriod(walk, day) / 7)
  const date = new Date(day * dayMs)
  return freq === 'MONTHLY' ? date.getUTCFullYear() * 12 + date.getUTCMonth() : date.getUTCFullYear()
}

/** The first day of the period that a day lies in. */
function startOfPeriod({ freq, weekStart }: Walk, day: number): number {
  if (freq === 'DAILY') return day
  if (freq === 'WEEKLY') return day - ((weekdayOf(day) - weekStart + 7) % 7)
  const date = new Date(day * dayMs)
  return new Date(day * dayMs).setUTCMonth(freq === 'MONTHLY' ? date.getUTCMonth() : 0, 1) / dayMs
}

const latestYear = 9999
const firstDayOf = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1) / dayMs

/**
 * The readings of the clock that a rule gives from one until before another, in order and after its first one, as long as the calendar goes.
 * COUNT and UNTIL are the caller's. Undefined between them means that some 0.1 ms has passed: a good moment for a pause.
 */
export function* readingsOf(
  rule: string,
  first: number,
  allDay: boolean,
  from: number,
  to: number,
  take: Take,
): Generator<number | undefined> {
  const walk = walkOf(partsOf(rule), first, allDay)
  const firstPeriod = periodOf(walk, Math.floor(first / dayMs))
  const begin = Math.max(first, from)
  for (const period of periodsOf(walk, firstPeriod, begin, to, take)) {
    if (period === undefined) yield undefined
    else
      for (const reading of period) {
        if (reading >= to) return
        if (reading >= begin && reading > first) yield reading
      }
  }
}

function* periodsOf(walk: Walk, firstPeriod: number, begin: number, to: number, take: Take): Generator<readonly number[] | undefined> {
  const { filter, freq, interval, times, positions } = walk
  const chooses = positions.length > 0
  // The positions of a period count from its first day.
  const firstDay = chooses ? startOfPeriod(walk, Math.floor(begin / dayMs)) : Math.floor(begin / dayMs)
  const firstYear = new Date(walk.first).getUTCFullYear()
  const stride = freq === 'YEARLY' ? interval : 1
  let year = new Date(firstDay * dayMs).getUTCFullYear()
  year += (stride - ((year - firstYear) % stride)) % stride
  let current: { readonly number: number; readonly readings: number[] } | undefined
  for (; year <= latestYear && firstDayOf(year) * dayMs < to; year += stride) {
    yield undefined
    const january = firstDayOf(year)
    for (const index of daysOfYear(filter, year, take)) {
      const day = january + index
      if (day < firstDay) continue
      if (!chooses && day * dayMs >= to) return
      const number = interval === 1 && !chooses ? 0 : periodOf(walk, day)
      if (interval > 1 && (number - firstPeriod) % interval !== 0) continue
      take(times.length)
      const readings = times.map((time) => day * dayMs + time)
      if (!chooses) yield readings
      else if (current?.number === number) current.readings.push(...readings)
      else {
        if (current) yield chosen(current.readings, positions)
        current = { number, readings }
      }
      if (chooses) yield undefined
    }
  }
  if (current) yield chosen(current.readings, positions)
}

/** The readings at some positions of a period, from its end where they are negative. */
function chosen(readings: readonly number[], positions: readonly number[]): readonly number[] {
  const found = positions.flatMap((position) => readings.at(position > 0 ? position - 1 : position) ?? [])
  return [...new Set(found)].sort((a, b) => a - b)
}
