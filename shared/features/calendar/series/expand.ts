import { type EventTime, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { rulePartsOf } from '#shared/features/calendar/series/rule.ts'
import { dayFilter, daysOfYear, type TakeSteps } from '#shared/features/calendar/series/rule-days.ts'
import { wallClocksOfRule } from '#shared/features/calendar/series/rule-walk.ts'
import { dateMs, dateText, fromWallClock, fromWallClockIfAny, toWallClock } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { dayMs, hourMs } from '#shared/platform/kernel/time/units.ts'

/** A repeating time: its first occurrence, its rule, and the added (`rdates`) and excluded (`exdates`) starts as local times. */
export interface Series extends EventTime {
  readonly rule: string
  readonly rdates: readonly number[]
  readonly exdates: readonly number[]
}

/** Upper bound of every zone's offset from UTC. */
const maxOffsetMs = 16 * hourMs

/**
 * Generates the starts of a series from `from` (inclusive) to `to` (exclusive), in order. Starts are computed lazily; `undefined` is a
 * pause point, about every 0.1 ms. The first occurrence is always a start, even if the rule does not give it
 * (docs/contract/calendar.md#repeat-rules). A start that a clock change skips is left out. `take` counts the steps: one per candidate, some
 * per year.
 */
export function* startsIn(series: Series, from: number, to: number, take: TakeSteps): Generator<number | undefined> {
  const excluded = new Set(series.exdates)
  take(1 + Math.floor((series.exdates.length + series.rdates.length) / 10))
  const added = addedStarts(series, from, to)
  let next = 0
  let last: number | undefined
  for (const start of startsOfRule(series, from, to, take)) {
    if (start === undefined) {
      yield undefined
      continue
    }
    for (; (added[next] ?? Number.POSITIVE_INFINITY) < start.at; next++) yield added[next]
    if (added[next] === start.at) next += 1
    if (start.at !== last && !excluded.has(start.wall)) yield start.at
    last = start.at
  }
  yield* added.slice(next)
}

/** The added starts (`rdates`) in the window without excluded ones, in order. */
function addedStarts(series: Series, from: number, to: number): number[] {
  const excluded = new Set(series.exdates)
  const near = series.rdates.filter((wall) => wall >= from - maxOffsetMs && wall < to + maxOffsetMs && !excluded.has(wall))
  const starts = near.map((wall) => (series.allDay ? wall : fromWallClock(wall, series.zone)))
  return [...new Set(starts)].filter((start) => start >= from && start < to).sort((a, b) => a - b)
}

interface Start {
  readonly at: number
  /** Local time of the start, in whole seconds. */
  readonly wall: number
}

function* startsOfRule(series: Series, from: number, to: number, take: TakeSteps): Generator<Start | undefined> {
  const { rule, start, allDay, zone } = series
  const parts = rulePartsOf(rule)
  const startWall = wallClockOf(series, start)
  const first = Math.floor(startWall / 1_000) * 1_000
  const end = Math.min(to, (lastInstantOf(parts.get('UNTIL'), series) ?? Number.POSITIVE_INFINITY) + 1)
  const count = reachableCount(parts, series, end)
  let produced = 1
  if (start >= from && start < to) yield { at: start, wall: first }
  // COUNT needs every start from the first one on.
  const begin = count === undefined ? from - maxOffsetMs : first
  for (const wall of wallClocksOfRule(rule, first, allDay, begin, end + maxOffsetMs, take)) {
    if (wall === undefined) yield undefined
    else {
      if (count !== undefined && produced >= count) return
      const at = allDay ? wall : fromWallClockIfAny(wall, zone)
      if (at === undefined) continue
      const exact = at + (startWall - first)
      if (exact >= end) return
      produced += 1
      yield exact >= from ? { at: exact, wall } : undefined
    }
  }
}

/** COUNT of a rule; undefined without COUNT or if it cannot be reached before `end`. Counting from the first start is skipped then. */
function reachableCount(parts: ReadonlyMap<string, string>, { start }: Series, end: number): number | undefined {
  const count = Number(parts.get('COUNT') ?? Number.POSITIVE_INFINITY)
  if (count === Number.POSITIVE_INFINITY || end <= start + minDaysOf(parts, count) * dayMs) return undefined
  return count
}

/** Days of the shortest and the longest period of each FREQ. */
const periodDays: Readonly<Record<string, readonly [number, number]>> = {
  DAILY: [1, 1],
  WEEKLY: [7, 7],
  MONTHLY: [28, 31],
  YEARLY: [365, 366],
}

/** Lower bound of the days that `count` starts take, assuming a start on every possible day. */
function minDaysOf(parts: ReadonlyMap<string, string>, count: number): number {
  const [shortest, longest] = periodDays[parts.get('FREQ') ?? ''] ?? [1, 1]
  const startsADay = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].reduce((starts, name) => starts * (parts.get(name)?.split(',').length ?? 1), 1)
  const periods = Math.floor((count - 1) / (longest * startsADay)) - 2
  return Math.max(0, periods) * shortest * Number(parts.get('INTERVAL') ?? 1)
}

/** Steps of one computation of a single series without pauses: about 10 ms. */
const maxStepsWithoutPause = 20_000

/** Counts the steps of one series that is computed without pauses. Throws VALIDATION_ERROR beyond 20,000 steps, about 10 ms. */
function singleSeriesSteps(): TakeSteps {
  let left = maxStepsWithoutPause
  return (steps) => {
    left -= steps
    if (left < 0)
      throw problem(
        'VALIDATION_ERROR',
        `recurrence needs more than ${maxStepsWithoutPause} steps to compute: choose one with fewer occurrences`,
      )
  }
}

/** The first `atMost` starts of `startsIn`, as a list. */
export function listStarts(series: Series, from: number, to: number, atMost: number, take: TakeSteps = singleSeriesSteps()): number[] {
  const starts: number[] = []
  if (atMost <= 0) return starts
  for (const start of startsIn(series, from, to, take)) {
    if (start === undefined) continue
    starts.push(start)
    if (starts.length >= atMost) break
  }
  return starts
}

/** Whether the series has a start at this time. */
export const isSeriesStart = (series: Series, start: number, take: TakeSteps = singleSeriesSteps()): boolean =>
  listStarts(series, start, start + 1, 1, take).length === 1

/** The last start of a series, or a later bound. Undefined for an endless series, and beyond 2,000 occurrences or 6,000 counting steps. */
export function lastStart(series: Series): number | undefined {
  const parts = rulePartsOf(series.rule)
  const lastAdded = addedStarts({ ...series, exdates: [] }, -endOfTime, endOfTime).at(-1) ?? series.start
  const until = lastInstantOf(parts.get('UNTIL'), series)
  if (until !== undefined) return Math.max(series.start, until, lastAdded)
  const count = Number(parts.get('COUNT') ?? 0)
  if (count === 0 || count > maxCounted) return undefined
  const last = countToLastStart(series)
  return last === undefined ? undefined : Math.max(last, lastAdded)
}

/** Upper bounds of occurrences and steps for finding the last start. */
const [maxCounted, maxCountingSteps] = [2_000, 6_000]

/** The last start of a rule with COUNT; undefined when finding it takes more than `maxCountingSteps`. */
function countToLastStart(series: Series): number | undefined {
  let left = maxCountingSteps
  let last = series.start
  const take = (steps: number) => {
    left -= steps
  }
  for (const start of startsOfRule(series, series.start, endOfTime, take)) {
    if (left < 0) return undefined
    if (start) last = start.at
  }
  return last
}

/** Exclusive end of every computed series. */
export const endOfTime = Date.parse('9999-12-31T00:00:00Z')

/** Throws VALIDATION_ERROR for a rule that the library cannot compute. */
export function requireComputableRule(series: Series): void {
  try {
    daysOfYear(dayFilter(rulePartsOf(series.rule), Math.floor(wallClockOf(series, series.start) / dayMs)), 2000)
  } catch (error) {
    throw problem('VALIDATION_ERROR', `recurrence cannot be computed: ${String((error as Error).message).slice(0, 200)}`)
  }
}

/** The last instant of UNTIL. A date means the last second of that local day, or the date itself for an all-day series. */
export function lastInstantOf(text: string | undefined, { allDay, zone }: Pick<EventTime, 'allDay' | 'zone'>): number | undefined {
  const [, year, month, day, hour = '23', minute = '59', second = '59', utc] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/.exec(text ?? '') ?? []
  if (year === undefined) return undefined
  const wall = Date.parse(`${year}-${month}-${day}T00:00:00Z`) + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000
  if (Number.isNaN(wall)) return undefined
  if (allDay) return dateMs(dateText(utc ? toWallClock(wall, zone) : wall))
  return utc ? wall : fromWallClock(wall, zone)
}

/** An instant in the UTC form of RFC 5545, such as `20260301T090000Z`. */
export const utcBasicText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
