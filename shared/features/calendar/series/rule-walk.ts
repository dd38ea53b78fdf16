import { type RuleParts, rulePartsOf } from '#shared/features/calendar/series/rule.ts'
import { dayFilter, daysOfYear, type TakeSteps, weekdayNumber } from '#shared/features/calendar/series/rule-days.ts'
import { weekdayFromMonday } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A rule prepared for generating local times. */
interface PreparedRule {
  readonly filter: string
  readonly freq: string
  readonly interval: number
  /** Starts of a day in milliseconds after midnight, in order. */
  readonly times: readonly number[]
  readonly positions: readonly number[]
  readonly weekStart: number
  /** Local time of the first start, in milliseconds as if it were UTC. */
  readonly first: number
}

const numbers = (text: string | undefined): number[] => (text === undefined ? [] : text.split(',').map(Number))

/** The clock times at which a rule has starts on a day, in milliseconds after midnight, 24 at most. What it leaves open is that of `first`. */
export function clockTimesOf(parts: RuleParts, first: number): number[] {
  const at = new Date(first)
  const valuesOf = (name: string, fallback: number) => (parts.has(name) ? numbers(parts.get(name)) : [fallback])
  return valuesOf('BYHOUR', at.getUTCHours()).flatMap((hour) =>
    valuesOf('BYMINUTE', at.getUTCMinutes()).flatMap((minute) =>
      valuesOf('BYSECOND', at.getUTCSeconds()).map((second) => ((hour * 60 + minute) * 60 + second) * 1_000),
    ),
  )
}

function prepareRule(parts: RuleParts, first: number, allDay: boolean): PreparedRule {
  return {
    filter: dayFilter(parts, Math.floor(first / dayMs)),
    freq: parts.get('FREQ') ?? 'DAILY',
    interval: Number(parts.get('INTERVAL') ?? 1),
    times: [...new Set(clockTimesOf(allDay ? new Map() : parts, first))].sort((a, b) => a - b),
    positions: numbers(parts.get('BYSETPOS')),
    weekStart: weekdayNumber(parts.get('WKST') ?? 'MO'),
    first,
  }
}

/** Number of the period that holds a day. Only differences between two numbers have a meaning. */
function periodOf(prepared: PreparedRule, day: number): number {
  const { freq } = prepared
  if (freq === 'DAILY') return day
  if (freq === 'WEEKLY') return Math.floor(startOfPeriod(prepared, day) / 7)
  const date = new Date(day * dayMs)
  return freq === 'MONTHLY' ? date.getUTCFullYear() * 12 + date.getUTCMonth() : date.getUTCFullYear()
}

/** First day of the period that holds a day. */
function startOfPeriod({ freq, weekStart }: PreparedRule, day: number): number {
  if (freq === 'DAILY') return day
  if (freq === 'WEEKLY') return day - ((weekdayFromMonday(day) - weekStart + 7) % 7)
  const date = new Date(day * dayMs)
  return new Date(day * dayMs).setUTCMonth(freq === 'MONTHLY' ? date.getUTCMonth() : 0, 1) / dayMs
}

const latestYear = 9999
const firstDayOf = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1) / dayMs

/**
 * Generates the local times of a rule from `from` (inclusive) to `to` (exclusive) and after `first`, in order, up to the year 9999. The
 * caller applies COUNT and UNTIL. `undefined` is a pause point, about every 0.1 ms.
 */
export function* wallClocksOfRule(
  rule: string,
  first: number,
  allDay: boolean,
  from: number,
  to: number,
  take: TakeSteps,
): Generator<number | undefined> {
  const prepared = prepareRule(rulePartsOf(rule), first, allDay)
  const firstPeriod = periodOf(prepared, Math.floor(first / dayMs))
  const begin = Math.max(first, from)
  for (const period of periodsOf(prepared, firstPeriod, begin, to, take)) {
    if (period === undefined) yield undefined
    else
      for (const wall of period) {
        if (wall >= to) return
        if (wall >= begin && wall > first) yield wall
      }
  }
}

function* periodsOf(
  prepared: PreparedRule,
  firstPeriod: number,
  begin: number,
  to: number,
  take: TakeSteps,
): Generator<readonly number[] | undefined> {
  const { filter, freq, interval, times, positions } = prepared
  const hasPositions = positions.length > 0
  // BYSETPOS counts from the first day of a period.
  const firstDay = hasPositions ? startOfPeriod(prepared, Math.floor(begin / dayMs)) : Math.floor(begin / dayMs)
  const firstYear = new Date(prepared.first).getUTCFullYear()
  const stride = freq === 'YEARLY' ? interval : 1
  let year = new Date(firstDay * dayMs).getUTCFullYear()
  year += (stride - ((year - firstYear) % stride)) % stride
  let current: { readonly number: number; readonly walls: number[] } | undefined
  for (; year <= latestYear && firstDayOf(year) * dayMs < to; year += stride) {
    yield undefined
    const january = firstDayOf(year)
    for (const index of daysOfYear(filter, year, take)) {
      const day = january + index
      if (day < firstDay) continue
      if (!hasPositions && day * dayMs >= to) return
      const number = interval === 1 && !hasPositions ? 0 : periodOf(prepared, day)
      if (interval > 1 && (number - firstPeriod) % interval !== 0) continue
      take(times.length)
      const walls = times.map((time) => day * dayMs + time)
      if (!hasPositions) yield walls
      else if (current?.number === number) current.walls.push(...walls)
      else {
        if (current) yield atPositions(current.walls, positions)
        current = { number, walls }
      }
      if (hasPositions) yield undefined
    }
  }
  if (current) yield atPositions(current.walls, positions)
}

/** The local times at these positions of a period; negative positions count from its end. */
function atPositions(walls: readonly number[], positions: readonly number[]): readonly number[] {
  const found = positions.flatMap((position) => walls.at(position > 0 ? position - 1 : position) ?? [])
  return [...new Set(found)].sort((a, b) => a - b)
}
