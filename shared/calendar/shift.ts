import { type EventRow, seriesOf, wallText, whenOf } from '#shared/calendar/event.ts'
import { compact, forEver, isStart, type Series, startsOf, untilOf } from '#shared/calendar/expand.ts'
import { partsOf, ruleOf } from '#shared/calendar/rule.ts'
import type { Take } from '#shared/calendar/rule-days.ts'
import { dateText, dayMs } from '#shared/calendar/time.ts'
import { fromWall, type When, wallOf } from '#shared/calendar/when.ts'

const startOfWallDay = (wall: number): number => Math.floor(wall / dayMs) * dayMs

/** How times move along with a series: by the same distance of the clock as its first occurrence. */
export function movement(before: When, after: When): (ms: number) => number {
  const reading = (ms: number) => (after.allDay ? startOfWallDay(wallOf(before, ms)) : wallOf(before, ms))
  const distance = wallOf(after, after.start) - reading(before.start)
  return (ms) => fromWall(after, reading(ms) + distance)
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
 * Which start of a changed series an exception of the old one stands for: the one that it moves to, or the one of the same number. None
 * when the rule itself was changed and does not have it any more.
 */
export function movedOriginal(before: Series, after: Series, original: number, isNewRule: boolean, take: Take): number | undefined {
  const moved = movement(before, after)(original)
  const unlessLeftOut = { ...after, exdates: [] }
  if (isStart(unlessLeftOut, moved, take)) return moved
  if (isNewRule) return undefined
  const place = startsOf({ ...before, exdates: [] }, before.start, original, mostPlaces, take).length
  return startsOf(unlessLeftOut, after.start, forEver, place + 1, take)[place]
}

/** Occurrences that are counted to find one of the same number. */
const mostPlaces = 2_000

/** The repeats of a series before one of its starts, and from it on: each start is in one of them, and COUNT is shared out. */
export function splitRepeats(row: EventRow, original: number) {
  const series = seriesOf(row) as Series
  const when = whenOf(row)
  const parts = partsOf(series.rule)
  const count = parts.get('COUNT')
  const done = count === undefined ? 0 : startsOf({ ...series, rdates: [], exdates: [] }, series.start, original, Number(count)).length
  const beside = (isIn: (start: number) => boolean) => {
    const kept = (walls: readonly number[]) => walls.filter((wall) => isIn(fromWall(when, wall))).map(wallText)
    return { rdates: kept(series.rdates), exdates: kept(series.exdates) }
  }
  const lastBefore = when.allDay ? original - dayMs : original - 1_000
  const ended = count === undefined ? { UNTIL: untilText(lastBefore, when) } : { COUNT: String(done) }
  const rest = count === undefined ? {} : { COUNT: String(Number(count) - done) }
  return {
    before: { recurrence: ruleOf(parts, ended), ...beside((start) => start < original) },
    after: { recurrence: ruleOf(parts, rest), ...beside((start) => start >= original) },
  }
}
