import { type EventTime, instantOfWallClock, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { propertiesOf } from '#shared/features/calendar/ics/components.ts'
import {
  type FileTime,
  instantAfter,
  instantOfFileTime,
  periodsOf,
  timesOf,
  type ZoneLookup,
  zoneOfTime,
} from '#shared/features/calendar/ics/file-times.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { rulePartsOf, ruleText } from '#shared/features/calendar/series/rule.ts'
import { clockTimesOf } from '#shared/features/calendar/series/rule-walk.ts'
import { dateMs, dateText, toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** The time of an event of a file. `tzid` is that of its start if the event is in the zone of that name. */
export interface FileWhen extends EventTime {
  readonly tzid: string | undefined
}

/** The start that RDATE, EXDATE or RECURRENCE-ID names, in the local time of the event; a date means the event's clock time on that day. */
function localTimeIn(time: FileTime, when: FileWhen, zoneLookup: ZoneLookup): number {
  if (when.allDay) return dateMs(dateText(time.isUtc ? toWallClock(time.wall, when.zone) : time.wall))
  if (time.isDate) return time.wall + (wallClockOf(when, when.start) % dayMs)
  // A time in the zone of the event's start is its local time, whatever IANA zone stands for it.
  if (!time.isUtc && (time.tzid === undefined || time.tzid === when.tzid)) return time.wall
  return toWallClock(instantOfFileTime(time, zoneOfTime(time, time.wall, zoneLookup), zoneLookup), when.zone)
}

/** The original start of a changed occurrence, in epoch milliseconds as its series counts them. */
export const originalStartIn = (time: FileTime, series: FileWhen, zoneLookup: ZoneLookup): number =>
  instantOfWallClock(series, localTimeIn(time, series, zoneLookup))

/** The starts that RDATEs add, in local time. */
export const addedStarts = (component: Jcal, when: FileWhen, zoneLookup: ZoneLookup): number[] =>
  propertiesOf(component, 'rdate').flatMap((one) => timesOf(one).map((time) => localTimeIn(time, when, zoneLookup)))

/** The starts that EXDATEs take out, in local time. A date takes every start of its day: all clock times that the rule or RDATEs name. */
export function removedStarts(
  component: Jcal,
  when: FileWhen,
  { rule, rdates }: { readonly rule: string | null; readonly rdates: readonly number[] },
  zoneLookup: ZoneLookup,
): number[] {
  const own = wallClockOf(when, when.start) % dayMs
  const clocks = new Set([own, ...clockTimesOf(rule === null ? new Map() : rulePartsOf(rule), own)])
  const byDay = Map.groupBy(rdates, (wall) => Math.floor(wall / dayMs))
  return propertiesOf(component, 'exdate').flatMap((one) =>
    timesOf(one).flatMap((time) => {
      if (when.allDay || !time.isDate) return [localTimeIn(time, when, zoneLookup)]
      return [...[...clocks].map((clock) => time.wall + clock), ...(byDay.get(time.wall / dayMs) ?? [])]
    }),
  )
}

/**
 * The occurrences that periods of RDATE give a length of their own: their ends by their starts, as in `EventTime`. A period as long as the
 * event is left out.
 */
export function ownEnds(component: Jcal, when: FileWhen, zoneLookup: ZoneLookup): Map<number, number> {
  const periods = propertiesOf(component, 'rdate').flatMap(periodsOf)
  const ends = new Map<number, number>()
  for (const { start, end } of when.allDay ? [] : periods) {
    const at = originalStartIn(start, when, zoneLookup)
    const zone = zoneOfTime(start, start.wall, zoneLookup)
    const to = 'days' in end ? instantAfter(start, zone, end, zoneLookup) : originalStartIn(end, when, zoneLookup)
    if (to >= at && to - at !== when.end - when.start) ends.set(at, to)
  }
  return ends
}

/**
 * The rule of a series whose first start lies in a gap of the clock: it names the written clock time, which later starts keep. The first
 * start itself is after the gap, and is a start whatever the rule gives.
 */
export function ruleAfterGap(rule: string, start: FileTime, when: EventTime): string {
  const shown = wallClockOf(when, when.start)
  if (when.allDay || start.isUtc || shown === start.wall || Math.floor(shown / dayMs) !== Math.floor(start.wall / dayMs)) return rule
  const parts = rulePartsOf(rule)
  const written = new Date(start.wall)
  return ruleText(parts, {
    BYHOUR: parts.get('BYHOUR') ?? String(written.getUTCHours()),
    BYMINUTE: parts.get('BYMINUTE') ?? String(written.getUTCMinutes()),
  })
}
