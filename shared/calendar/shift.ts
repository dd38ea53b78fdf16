import { type EventRow, seriesOf, wallText, whenOf } from '#shared/calendar/event.ts'
import { compact, forEver, isStart, type Series, startsOf, untilOf } from '#shared/calendar/expand.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import type { Take } from '#shared/calendar/rule-days.ts'
import { dateText, dayMs } from '#shared/calendar/time.ts'
import { fromWall, type When, wallOf } from '#shared/calendar/when.ts'
import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'

const startOfWallDay = (wall: number): number => Math.floor(wall / dayMs) * dayMs

/** How times move along with a series: by the same distance of the clock as its first occurrence. */
export function movement(before: When, after: When): (ms: number) => number {
  const reading = (ms: number) => (after.allDay ? startOfWallDay(wallOf(before, ms)) : wallOf(before, ms))
  const distance = wallOf(after, after.start) - reading(before.start)
  return (ms) => fromWall(after, reading(ms) + distance)
}

/** The start of another time that moves by as many days as a series does. */
export function movedByDays(before: When, after: When, other: When): number {
  const days = startOfWallDay(wallOf(after, after.start)) - startOfWallDay(wallOf(before, before.start))
  return fromWall(other, wallOf(other, other.start) + days)
}

/** The repeats of a series that moves: its rule names other days where it named days, and what is beside the rule moves along. */
export function movedRepeats(row: EventRow, after: When): Pick<EventRow, 'recurrence' | 'rdates' | 'exdates'> {
  const series = seriesOf(row)
  if (!series) return { recurrence: row.recurrence, rdates: row.rdates, exdates: row.exdates }
  const move = movement(series, after)
  const moved = (walls: readonly number[]) => walls.map((wall) => wallText(wallOf(after, move(fromWall(series, wall)))))
  return { recurrence: movedRule(series, after, move), rdates: moved(series.rdates), exdates: moved(series.exdates) }
}

function movedRule(series: Series, after: When, move: (ms: number) => number): string {
  const days = (startOfWallDay(wallOf(after, after.start)) - startOfWallDay(wallOf(series, series.start))) / dayMs
  const parts = partsOf(series.rule)
  const until = untilOf(parts.get('UNTIL'), series)
  return ruleOf(parts, {
    UNTIL: until === undefined ? undefined : untilText(move(until), after),
    BYDAY: parts.get('BYDAY')?.replaceAll(/MO|TU|WE|TH|FR|SA|SU/g, (day) => turned(day, days)),
    BYMONTHDAY: movedMonthDays(parts.get('BYMONTHDAY'), days),
  })
}

const week = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const turned = (day: string, days: number): string => week[(((week.indexOf(day) + days) % 7) + 7) % 7] ?? day

/** Days of the month that every month has, before and after. */
function movedMonthDays(list: string | undefined, days: number): string | undefined {
  const moved = list?.split(',').map((day) => Number(day) + days)
  const isPlain = moved?.every((day) => day >= 1 && day <= 28) && list?.split(',').every((day) => Number(day) >= 1)
  return isPlain ? moved?.join() : list
}

/** An UNTIL: an instant in UTC, of dates the date. */
export const untilText = (ms: number, { allDay }: Pick<When, 'allDay'>): string => (allDay ? dateText(ms).replaceAll('-', '') : compact(ms))

/**
 * The starts of a changed series that its exceptions stand for from then on, by the starts that they stood for. All move along, or, where the
 * series has no start at one of those times, all keep their number. An exception without a place is left out: of a new rule, which has no
 * numbers in common with the old one, of a series that ends before, and where two would have the same place.
 */
export async function movedOriginals(
  before: Series,
  after: Series,
  originals: readonly number[],
  isNewRule: boolean,
  budget: ComputeBudget,
): Promise<Map<number, number>> {
  const move = movement(before, after)
  const whole = { ...after, exdates: [] }
  const take = (steps: number) => budget.take(steps)
  const moved: Place[] = []
  const found: Place[] = []
  for (const original of originals) {
    const place = [original, move(original)] as const
    moved.push(place)
    if (isStart(whole, place[1], take)) found.push(place)
    if (budget.isPauseDue()) await budget.pause()
  }
  if (isNewRule) return firstOfEach(found)
  const isComplete = found.length === moved.length && new Set(found.map(([, start]) => start)).size === originals.length
  return firstOfEach(isComplete ? moved : byNumber(before, whole, moved, take))
}

/** Which start an exception stood for, and which it stands for after a change. */
type Place = readonly [before: number, after: number]

/** What has no number among those that are counted moves along: an exception of a file may stand for no start of its rule. */
function byNumber(before: Series, after: Series, moved: readonly Place[], take: Take): Place[] {
  const until = Math.max(...moved.map(([original]) => original)) + 1
  const numbers = new Map(
    startsOf({ ...before, exdates: [] }, firstOf(before), until, mostPlaces, take).map((start, index) => [start, index]),
  )
  const starts = startsOf(after, firstOf(after), forEver, numbers.size, take)
  return moved.flatMap(([original, along]) => {
    const number = numbers.get(original)
    const start = number === undefined ? along : starts[number]
    return start === undefined ? [] : [[original, start] as const]
  })
}

const firstOf = (series: Series): number => Math.min(series.start, ...series.rdates.map((wall) => fromWall(series, wall)))

function firstOfEach(moved: readonly Place[]): Map<number, number> {
  const taken = new Set<number>()
  const free = moved.filter(([, start]) => !taken.has(start) && taken.add(start))
  return new Map(free)
}

/** Occurrences that are counted to find one of the same number. */
const mostPlaces = 2_000

/** One part of a series that is cut: when its rule starts, and its repeats. */
type Part = Pick<EventRow, 'recurrence' | 'rdates' | 'exdates'> & { readonly start: number }

/** A rule without a start for so long has no more: looking for one to the end of time is too much for one look. */
const farMs = 100 * 366 * dayMs

/** The rule of starts that are all named beside it: the first occurrence alone. */
const onlyFirst = 'FREQ=DAILY;COUNT=1'

/**
 * The parts of a series before one of its starts, and from it on: each start is in one of them, and COUNT is shared out. A rule goes on from
 * a start of its own, so that it keeps its days: where a series is cut at a start beside its rule, that start stays beside it.
 */
export function splitRepeats(row: EventRow, original: number): { before: Part; after: Part } {
  const series = seriesOf(row) as Series
  const when = whenOf(row)
  const parts = partsOf(series.rule)
  const count = parts.get('COUNT')
  const rule = { ...series, rdates: [], exdates: [] }
  const done = count === undefined ? 0 : startsOf(rule, series.start, original, Number(count)).length
  const beside = (isIn: (start: number) => boolean) => {
    const kept = (walls: readonly number[]) => walls.filter((wall) => isIn(fromWall(when, wall)))
    return { rdates: kept(series.rdates), exdates: kept(series.exdates) }
  }
  const lastBefore = when.allDay ? original - dayMs : original - 1_000
  const ended = count === undefined ? { UNTIL: untilText(lastBefore, when) } : { COUNT: String(done) }
  const rest = count === undefined ? {} : { COUNT: String(Number(count) - done) }
  const first = series.start < original ? series.start : undefined
  const [next] = startsOf(rule, original, Math.min(forEver, original + farMs), 1)
  return {
    before: partOf(
      series,
      first,
      ruleOf(parts, ended),
      beside((start) => start < original),
    ),
    after: partOf(
      series,
      next,
      ruleOf(parts, rest),
      beside((start) => start >= original),
    ),
  }
}

/** A part whose rule starts at `start`; without one its first start is one of those beside the rule. */
function partOf(series: Series, start: number | undefined, rule: string, { rdates, exdates }: Pick<Series, 'rdates' | 'exdates'>): Part {
  const texts = { rdates: rdates.map(wallText), exdates: exdates.map(wallText) }
  if (start !== undefined) return { start, recurrence: rule, ...texts }
  return { start: fromWall(series, Math.min(...rdates)), recurrence: onlyFirst, ...texts }
}
