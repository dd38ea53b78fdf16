import { type EventTime, instantOfWallClock, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { type EventTimeColumns, eventTimeOf, seriesOf, wallClockText } from '#shared/features/calendar/events/event.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { endOfTime, isSeriesStart, lastInstantOf, listStarts, type Series, utcBasicText } from '#shared/features/calendar/series/expand.ts'
import { type RuleParts, rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import { type TakeSteps, weekdayNumber, weekdays } from '#shared/features/calendar/series/rule-days.ts'
import { dateText } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

const startOfWallDay = (wall: number): number => Math.floor(wall / dayMs) * dayMs

/** Returns a function that moves a time by the distance in local time between the old and the new first occurrence of a series. */
export function moveBetween(before: EventTime, after: EventTime): (ms: number) => number {
  const wall = (ms: number) => (after.allDay ? startOfWallDay(wallClockOf(before, ms)) : wallClockOf(before, ms))
  const distance = wallClockOf(after, after.start) - wall(before.start)
  return (ms) => instantOfWallClock(after, wall(ms) + distance)
}

/** The start of `other`, moved by the same number of days as the series. */
export function moveByDays(before: EventTime, after: EventTime, other: EventTime): number {
  const distanceMs = startOfWallDay(wallClockOf(after, after.start)) - startOfWallDay(wallClockOf(before, before.start))
  return instantOfWallClock(other, wallClockOf(other, other.start) + distanceMs)
}

/** The repeats of a moved series: days named in the rule are shifted, and added and excluded starts move by the same distance. */
export function moveRepeats(row: EventTimeColumns, after: EventTime): Pick<EventRow, 'recurrence' | 'rdates' | 'exdates'> {
  const series = seriesOf(row)
  if (!series) return { recurrence: row.recurrence, rdates: row.rdates, exdates: row.exdates }
  const move = moveBetween(series, after)
  const moveAll = (walls: readonly number[]) =>
    walls.map((wall) => wallClockText(wallClockOf(after, move(instantOfWallClock(series, wall)))))
  return { recurrence: moveRule(series, after, move), rdates: moveAll(series.rdates), exdates: moveAll(series.exdates) }
}

function moveRule(series: Series, after: EventTime, move: (ms: number) => number): string {
  const days = (startOfWallDay(wallClockOf(after, after.start)) - startOfWallDay(wallClockOf(series, series.start))) / dayMs
  const parts = rulePartsOf(series.rule)
  const until = lastInstantOf(parts.get('UNTIL'), series)
  return ruleText(parts, {
    UNTIL: until === undefined ? undefined : untilText(move(until), after),
    BYDAY: parts.get('BYDAY')?.replaceAll(/MO|TU|WE|TH|FR|SA|SU/g, (day) => shiftWeekday(day, days)),
    BYMONTHDAY: moveMonthDays(parts.get('BYMONTHDAY'), days),
    WKST: moveWeekStart(parts, days),
  })
}

const shiftWeekday = (day: string, days: number): string => weekdays[(((weekdayNumber(day) + days) % 7) + 7) % 7] ?? day

/**
 * Shifts the first day of the week, MO by default, of a rule that skips weeks: days of one week then stay in one week. Of other rules it
 * has no effect, and they keep theirs.
 */
function moveWeekStart(parts: RuleParts, days: number): string | undefined {
  const start = parts.get('WKST')
  const skipsWeeks = parts.get('FREQ') === 'WEEKLY' && Number(parts.get('INTERVAL') ?? 1) > 1 && parts.has('BYDAY')
  return skipsWeeks && days % 7 !== 0 ? shiftWeekday(start ?? 'MO', days) : start
}

/** Shifts BYMONTHDAY if all days are 1 to 28 before and after, so that every month has them. Otherwise it stays. */
function moveMonthDays(list: string | undefined, days: number): string | undefined {
  const moved = list?.split(',').map((day) => Number(day) + days)
  const isInEveryMonth = moved?.every((day) => day >= 1 && day <= 28) && list?.split(',').every((day) => Number(day) >= 1)
  return isInEveryMonth ? moved?.join() : list
}

/** Formats UNTIL: an instant in UTC, or a date for an all-day series. */
export const untilText = (ms: number, { allDay }: Pick<EventTime, 'allDay'>): string =>
  allDay ? dateText(ms).replaceAll('-', '') : utcBasicText(ms)

/**
 * Maps the original start of each exception to its start in the changed series. All move by the distance of the series; if the series has
 * no start at one of those times, each keeps its ordinal number instead. With a new rule, ordinal numbers are not comparable: exceptions
 * without a start at the moved time are left out. Left out as well are exceptions after the end of the series and second ones at the same
 * start.
 */
export async function moveOriginals(
  before: Series,
  after: Series,
  originals: readonly number[],
  isNewRule: boolean,
  budget: ComputeBudget,
): Promise<Map<number, number>> {
  const move = moveBetween(before, after)
  const withExcluded = { ...after, exdates: [] }
  const take = (steps: number) => budget.takeSteps(steps)
  const moved: StartPair[] = []
  const matching: StartPair[] = []
  for (const original of originals) {
    const pair = [original, move(original)] as const
    moved.push(pair)
    if (isSeriesStart(withExcluded, pair[1], take)) matching.push(pair)
    if (budget.isPauseDue()) await budget.pause()
  }
  if (isNewRule) return firstOfEach(matching)
  const isComplete = matching.length === moved.length && new Set(matching.map(([, start]) => start)).size === originals.length
  return firstOfEach(isComplete ? moved : byNumber(before, withExcluded, moved, take))
}

/** The original start of an exception before and after a change. */
type StartPair = readonly [before: number, after: number]

/** Pairs starts by ordinal number. An exception without a number, such as one of an imported file, moves by the distance of the series. */
function byNumber(before: Series, after: Series, moved: readonly StartPair[], take: TakeSteps): StartPair[] {
  const until = Math.max(...moved.map(([original]) => original)) + 1
  const numbers = new Map(
    listStarts({ ...before, exdates: [] }, firstOf(before), until, maxNumbered, take).map((start, index) => [start, index]),
  )
  const starts = listStarts(after, firstOf(after), endOfTime, numbers.size, take)
  return moved.flatMap(([original, movedStart]) => {
    const number = numbers.get(original)
    const start = number === undefined ? movedStart : starts[number]
    return start === undefined ? [] : [[original, start] as const]
  })
}

/** The first start of a series. An RDATE may come before the first start of the rule. */
export const firstOf = (series: Series): number => Math.min(series.start, ...series.rdates.map((wall) => instantOfWallClock(series, wall)))

function firstOfEach(moved: readonly StartPair[]): Map<number, number> {
  const taken = new Set<number>()
  const free = moved.filter(([, start]) => !taken.has(start) && taken.add(start))
  return new Map(free)
}

/** Upper bound of occurrences that are counted for ordinal numbers. */
const maxNumbered = 2_000

/** One part of a split series: the start of its rule, and its repeats. */
type SeriesPart = Pick<EventRow, 'recurrence' | 'rdates' | 'exdates'> & { readonly start: number }

/** A rule without a start for this long counts as ended. Searching to the year 9999 takes too many steps without a pause. */
const maxGapMs = 100 * 366 * dayMs

/** The rule of a part whose starts are all in `rdates`: the first occurrence only. */
const firstOnlyRule = 'FREQ=DAILY;COUNT=1'

/**
 * Splits the repeats of a series at one of its starts. Each start is in exactly one part, and COUNT is divided. The rule of the later part
 * continues from a start of the rule, so that it keeps its days; if the split is at an added start, that one stays in `rdates`.
 */
export function splitRepeats(row: EventTimeColumns, original: number): { before: SeriesPart; after: SeriesPart } {
  const series = seriesOf(row) as Series
  const when = eventTimeOf(row)
  const parts = rulePartsOf(series.rule)
  const count = parts.get('COUNT')
  const rule = { ...series, rdates: [], exdates: [] }
  const startsBefore = count === undefined ? 0 : listStarts(rule, series.start, original, Number(count)).length
  const selectDates = (isIn: (start: number) => boolean) => {
    const select = (walls: readonly number[]) => walls.filter((wall) => isIn(instantOfWallClock(when, wall)))
    return { rdates: select(series.rdates), exdates: select(series.exdates) }
  }
  const lastBefore = when.allDay ? original - dayMs : original - 1_000
  const endBefore = count === undefined ? { UNTIL: untilText(lastBefore, when) } : { COUNT: String(startsBefore) }
  const countAfter = count === undefined ? {} : { COUNT: String(Number(count) - startsBefore) }
  const first = series.start < original ? series.start : undefined
  const [next] = listStarts(rule, original, Math.min(endOfTime, original + maxGapMs), 1)
  return {
    before: partOf(
      series,
      first,
      ruleText(parts, endBefore),
      selectDates((start) => start < original),
    ),
    after: partOf(
      series,
      next,
      ruleText(parts, countAfter),
      selectDates((start) => start >= original),
    ),
  }
}

/** A part whose rule starts at `start`. Without `start` the rule has no start in the part, and the first added start begins it. */
function partOf(
  series: Series,
  start: number | undefined,
  rule: string,
  { rdates, exdates }: Pick<Series, 'rdates' | 'exdates'>,
): SeriesPart {
  const texts = { rdates: rdates.map(wallClockText), exdates: exdates.map(wallClockText) }
  if (start !== undefined) return { start, recurrence: rule, ...texts }
  return { start: instantOfWallClock(series, Math.min(...rdates)), recurrence: firstOnlyRule, ...texts }
}
