import { partsOf } from '#shared/calendar/rule.ts'
import { dayFilter, daysOfYear, type Take } from '#shared/calendar/rule-days.ts'
import { readingsOf } from '#shared/calendar/rule-walk.ts'
import { atWall, atWallIfAny, dateMs, dateText, dayMs, wallMs } from '#shared/calendar/time.ts'
import { type When, wallOf } from '#shared/calendar/when.ts'
import { problem } from '#shared/kernel/errors.ts'

/** A time that repeats: its first occurrence, the rule, and starts beside it and without it, as the clock of the series shows them. */
export interface Series extends When {
  readonly rule: string
  readonly rdates: readonly number[]
  readonly exdates: readonly number[]
}

/** Every zone is nearer to UTC than this. */
const offsetMs = 16 * 3_600_000

/**
 * The starts of a series from `from` until before `to`, in their order. They are computed while they are asked for: undefined between them
 * means that some 0.1 ms has passed, a good moment for a pause. The first occurrence is one whether its rule gives it or not (decisions,
 * Calendar); a start that a clock change skips is none. `take` counts the steps, one for each candidate and some for each year.
 */
export function* startsIn(series: Series, from: number, to: number, take: Take): Generator<number | undefined> {
  const left = new Set(series.exdates)
  take(1 + Math.floor((series.exdates.length + series.rdates.length) / 10))
  const beside = startsBeside(series, from, to)
  let next = 0
  let last: number | undefined
  for (const start of startsOfRule(series, from, to, take)) {
    if (start === undefined) {
      yield undefined
      continue
    }
    for (; (beside[next] ?? Number.POSITIVE_INFINITY) < start.at; next++) yield beside[next]
    if (beside[next] === start.at) next += 1
    if (start.at !== last && !left.has(start.wall)) yield start.at
    last = start.at
  }
  yield* beside.slice(next)
}

/** The starts beside the rule, in their order. */
function startsBeside(series: Series, from: number, to: number): number[] {
  const left = new Set(series.exdates)
  const near = series.rdates.filter((wall) => wall >= from - offsetMs && wall < to + offsetMs && !left.has(wall))
  const starts = near.map((wall) => (series.allDay ? wall : atWall(wall, series.zone)))
  return [...new Set(starts)].filter((start) => start >= from && start < to).sort((a, b) => a - b)
}

interface Start {
  readonly at: number
  /** What the clock shows then, in whole seconds. */
  readonly wall: number
}

function* startsOfRule(series: Series, from: number, to: number, take: Take): Generator<Start | undefined> {
  const { rule, start, allDay, zone } = series
  const parts = partsOf(rule)
  const reading = wallOf(series, start)
  const first = Math.floor(reading / 1_000) * 1_000
  const end = Math.min(to, (untilOf(parts.get('UNTIL'), series) ?? Number.POSITIVE_INFINITY) + 1)
  const count = countWithin(parts, series, end)
  let counted = 1
  if (start >= from && start < to) yield { at: start, wall: first }
  // Starts are counted from the first one on.
  const begin = count === undefined ? from - offsetMs : first
  for (const wall of readingsOf(rule, first, allDay, begin, end + offsetMs, take)) {
    if (wall === undefined) yield undefined
    else {
      if (count !== undefined && counted >= count) return
      const at = allDay ? wall : atWallIfAny(wall, zone)
      if (at === undefined) continue
      const whole = at + (reading - first)
      if (whole >= end) return
      counted += 1
      yield whole >= from ? { at: whole, wall } : undefined
    }
  }
}

/** The number of starts of a rule; undefined without one, and where so many cannot come before `end`: counting takes as long as there are. */
function countWithin(parts: ReadonlyMap<string, string>, { start }: Series, end: number): number | undefined {
  const count = Number(parts.get('COUNT') ?? Number.POSITIVE_INFINITY)
  if (count === Number.POSITIVE_INFINITY || end <= start + leastDays(parts, count) * dayMs) return undefined
  return count
}

/** The days of the shortest period of each kind, and of the longest. */
const periodDays: Readonly<Record<string, readonly [number, number]>> = {
  DAILY: [1, 1],
  WEEKLY: [7, 7],
  MONTHLY: [28, 31],
  YEARLY: [365, 366],
}

/** Days that so many starts take at least, were there one on every day that may have one. */
function leastDays(parts: ReadonlyMap<string, string>, count: number): number {
  const [shortest, longest] = periodDays[parts.get('FREQ') ?? ''] ?? [1, 1]
  const startsADay = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].reduce((starts, name) => starts * (parts.get(name)?.split(',').length ?? 1), 1)
  const periods = Math.floor((count - 1) / (longest * startsADay)) - 2
  return Math.max(0, periods) * shortest * Number(parts.get('INTERVAL') ?? 1)
}

/** Steps of one look at a single series: some 10 ms. */
const stepsAtOnce = 20_000

/** Takes steps of one series that is looked at without a pause. Throws VALIDATION_ERROR beyond what 10 ms allow. */
export function atOnce(): Take {
  let left = stepsAtOnce
  return (steps) => {
    left -= steps
    if (left < 0)
      throw problem('VALIDATION_ERROR', `recurrence needs more than ${stepsAtOnce} steps to compute: choose one with fewer occurrences`)
  }
}

/** The starts of `startsIn`, as many as `atMost`. */
export function startsOf(series: Series, from: number, to: number, atMost: number, take: Take = atOnce()): number[] {
  const starts: number[] = []
  if (atMost <= 0) return starts
  for (const start of startsIn(series, from, to, take)) {
    if (start === undefined) continue
    starts.push(start)
    if (starts.length >= atMost) break
  }
  return starts
}

/** Whether a time is a start of the series. */
export const isStart = (series: Series, start: number, take: Take = atOnce()): boolean =>
  startsOf(series, start, start + 1, 1, take).length === 1

/** When the series starts for the last time, or no earlier than that; undefined when it goes on for ever, or for longer than is worth counting. */
export function lastStart(series: Series): number | undefined {
  const parts = partsOf(series.rule)
  const beside = startsBeside({ ...series, exdates: [] }, -forEver, forEver).at(-1) ?? series.start
  const until = untilOf(parts.get('UNTIL'), series)
  if (until !== undefined) return Math.max(series.start, until, beside)
  const count = Number(parts.get('COUNT') ?? 0)
  if (count === 0 || count > mostCounted) return undefined
  const last = countOut(series)
  return last === undefined ? undefined : Math.max(last, beside)
}

/** Occurrences and steps that are counted to find the last one. */
const [mostCounted, mostSteps] = [2_000, 6_000]

/** The last start of a rule that has a COUNT; undefined when it is further off than is worth counting. */
function countOut(series: Series): number | undefined {
  let left = mostSteps
  let last = series.start
  const take = (steps: number) => {
    left -= steps
  }
  for (const start of startsOfRule(series, series.start, forEver, take)) {
    if (left < 0) return undefined
    if (start) last = start.at
  }
  return last
}

/** After every time that there may be. */
export const forEver = Date.parse('9999-12-31T00:00:00Z')

/** Throws VALIDATION_ERROR for a rule that the library cannot follow. */
export function requireFollowable(series: Series): void {
  try {
    daysOfYear(dayFilter(partsOf(series.rule), Math.floor(wallOf(series, series.start) / dayMs)), 2000)
  } catch (error) {
    throw problem('VALIDATION_ERROR', `recurrence cannot be followed: ${String((error as Error).message).slice(0, 200)}`)
  }
}

/** The last instant at which a rule may start: its UNTIL in UTC, a day's last second by the clock of the series, a date for dates. */
export function untilOf(text: string | undefined, { allDay, zone }: Pick<When, 'allDay' | 'zone'>): number | undefined {
  const [, year, month, day, hour = '23', minute = '59', second = '59', utc] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/.exec(text ?? '') ?? []
  if (year === undefined) return undefined
  const reading = Date.parse(`${year}-${month}-${day}T00:00:00Z`) + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000
  if (Number.isNaN(reading)) return undefined
  if (allDay) return dateMs(dateText(utc ? wallMs(reading, zone) : reading))
  return utc ? reading : atWall(reading, zone)
}

/** An instant as RFC 5545 writes it in UTC. */
export const compact = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
