import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import { spanMs, startsBySpans } from '#shared/calendar/kept-starts.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import { atWall, dateMs, dateText, dayMs, wallMs } from '#shared/calendar/time.ts'
import type { When } from '#shared/calendar/when.ts'
import { problem } from '#shared/kernel/errors.ts'

/** A time that repeats: its first occurrence, the rule, and starts beside it and without it. */
export interface Series extends When {
  readonly rule: string
  readonly rdates: readonly number[]
  readonly exdates: readonly number[]
}

/**
 * Periods and candidates that one question may look at: a rule that never comes true, such as 30 February, is given up after some ten
 * milliseconds, and has no further occurrence then.
 */
const [mostPeriods, mostCandidates] = [20_000, 100_000]

/** Rules that were asked lately: one that is asked again answers in microseconds instead of a millisecond. */
const lately = new Map<string, Stepper>()
const mostLately = 5_000

/** A rule that can be asked for starts. */
interface Stepper {
  readonly rule: RRuleTemporal | undefined
  /** The same without its COUNT, which is asked as long as that many starts cannot have come: counting takes as long as there are. */
  readonly uncounted: RRuleTemporal | undefined
  readonly countsFrom: number
  /** Milliseconds that the library's starts lack: it counts in seconds. */
  readonly rest: number
}

/**
 * The starts of a series from `from` until before `to`, in their order, as many as `atMost`. The first occurrence is one whether its rule
 * gives it or not (decisions, Calendar); a start that a clock change skips is none.
 */
export function startsOf(series: Series, from: number, to: number, atMost: number): number[] {
  const { rule, uncounted, countsFrom, rest } = stepperOf(series)
  const left = new Set(series.exdates)
  const starts = new Set<number>()
  if (series.start >= from && series.start < to) starts.add(series.start)
  for (const start of series.rdates) if (start >= from && start < to) starts.add(start)
  if (rule && to > series.start) {
    const [after, before] = [Math.max(from, series.start) - rest, to - rest]
    const step = (first: number, last: number) => stepThrough(last <= countsFrom ? (uncounted ?? rule) : rule, first, last, mostInSpan)
    const [length, enough] = [before - after, atMost + left.size + starts.size]
    const found =
      length >= leastMs && length <= mostMs
        ? startsBySpans(keyOf(series), after, before, enough, (first, last) => step(Math.max(first, series.start - rest), last))
        : (stepThrough(to <= countsFrom ? (uncounted ?? rule) : rule, after, before, enough) ?? [])
    for (const start of found) if (start + rest >= from && start + rest < to) starts.add(start + rest)
  }
  return [...starts]
    .filter((start) => !left.has(start))
    .sort((a, b) => a - b)
    .slice(0, atMost)
}

/** Windows between these are put together of what is kept (shared/calendar/kept-starts.ts): weeks, months, a year. */
const [leastMs, mostMs] = [2 * dayMs, 8 * spanMs]
/** A day has 24 starts at most, and one of 25 hours one more. */
const mostInSpan = (25 * spanMs) / dayMs

const keyOf = ({ rule, start, allDay, zone }: Series): string => `${rule} ${start} ${allDay ? 'dates' : zone}`

/**
 * A short window is asked for at once; where there may be very many starts they are stepped through until there are enough. Undefined for a
 * rule that is given up.
 */
function stepThrough(rule: RRuleTemporal, after: number, before: number, atMost: number): number[] | undefined {
  try {
    const chunkMs = 400 * dayMs
    const starts: number[] = []
    for (let from = after; from < before && starts.length < atMost; from += chunkMs) {
      const found = rule.between(new Date(from), new Date(Math.min(before, from + chunkMs)), true)
      starts.push(...found.map((start) => start.epochMilliseconds))
      if (found.length === 0 && from + chunkMs < before) {
        const next = rule.next(new Date(from + chunkMs), true)
        if (!next) break
        from = Math.max(from, next.epochMilliseconds - chunkMs)
      }
    }
    return starts
  } catch {
    // The rule asked for more steps than one question may take.
    return undefined
  }
}

/** Whether a time is a start of the series. */
export const isStart = (series: Series, start: number): boolean => startsOf(series, start, start + 1, 1).length === 1

/** When the series starts for the last time; undefined when it goes on for ever, or for longer than is worth counting. */
export function lastStart(series: Series): number | undefined {
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  if (until !== undefined) return Math.max(series.start, until, ...series.rdates)
  const count = Number(parts.get('COUNT') ?? 0)
  if (count === 0 || count > mostCounted) return undefined
  const starts = countOut(series)
  return starts.length < count ? undefined : Math.max(...starts, ...series.rdates)
}

/** All starts of a rule that has a COUNT; fewer when they take more steps than are worth it. */
function countOut(series: Series): number[] {
  try {
    const { rule, rest } = makeStepper(series, countedPeriods)
    const starts = rule?.all((_, index) => index < mostCounted).map((start) => start.epochMilliseconds + rest) ?? []
    return starts[0] === series.start ? starts : [series.start, ...starts]
  } catch {
    return []
  }
}

/** Occurrences that are counted to find the last one. */
const mostCounted = 2_000
const countedPeriods = 3_000
/** After every time that there may be. */
export const forEver = Date.parse('9999-12-31T00:00:00Z')

/** Throws VALIDATION_ERROR for a rule that the library cannot follow. */
export function requireFollowable(series: Series): void {
  try {
    makeStepper(series)
  } catch (error) {
    throw problem('VALIDATION_ERROR', `recurrence cannot be followed: ${String((error as Error).message).slice(0, 200)}`)
  }
}

function stepperOf(series: Series): Stepper {
  const key = keyOf(series)
  const known = lately.get(key)
  if (known) return known
  if (lately.size >= mostLately) lately.clear()
  let made: Stepper = { rule: undefined, uncounted: undefined, countsFrom: 0, rest: 0 }
  try {
    made = makeStepper(series)
  } catch {
    // A rule that was kept and cannot be followed any more has its first occurrence alone.
  }
  lately.set(key, made)
  return made
}

function makeStepper(series: Series, periods = mostPeriods): Stepper {
  const rest = series.start % 1_000
  const zone = series.allDay ? 'UTC' : series.zone
  const dtstart = Temporal.Instant.fromEpochMilliseconds(series.start - rest).toZonedDateTimeISO(zone)
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  const plain = {
    UNTIL: until === undefined ? undefined : compact(until),
    ...(series.allDay ? { BYHOUR: undefined, BYMINUTE: undefined, BYSECOND: undefined } : {}),
  }
  const make = (count: string | undefined) =>
    new RRuleTemporal({
      rruleString: `RRULE:${ruleOf(parts, { ...plain, COUNT: count })}`,
      dtstart,
      maxIterations: periods,
      maxCandidateEvaluations: mostCandidates,
      cache: false,
    })
  const count = parts.get('COUNT')
  const uncounted = make(undefined)
  if (count === undefined) return { rule: uncounted, uncounted, countsFrom: 0, rest }
  const countsFrom = series.start + leastDays(parts, Number(count)) * dayMs
  if (isInStep(uncounted, series.start - rest)) return { rule: make(count), uncounted, countsFrom, rest }
  // The first occurrence counts, also when the rule would not give it.
  return { rule: Number(count) === 1 ? undefined : make(String(Number(count) - 1)), uncounted, countsFrom, rest }
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

function isInStep(rule: RRuleTemporal, start: number): boolean {
  try {
    return rule.between(new Date(start), new Date(start), true).length > 0
  } catch {
    return true
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
