import { property } from '#shared/features/calendar/ics/components.ts'
import { type Duration, readDuration, timesOf } from '#shared/features/calendar/ics/file-times.ts'
import type { Jcal } from '#shared/features/calendar/ics/jcal.ts'
import { fromWallClock, toWallClock } from '#shared/features/calendar/time.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** The instants of an event, and the zone by whose clock days of an alarm count. */
interface AlarmedEvent {
  readonly start: number
  readonly end: number
  readonly zone: string
  readonly repeats: boolean
}

/** Reminders of an event, and the longest in minutes (docs/contract/calendar.md#creating-events). */
const [maxReminders, maxMinutes] = [5, 10_080]

/** The alarms of an event as minutes before its start; null for an event without alarms. What cannot become a reminder is noted. */
export function remindersOf([, , components]: Jcal, event: AlarmedEvent, notes: string[]): number[] | null {
  const alarms = components.filter(([name]) => name === 'valarm')
  if (alarms.length === 0) return null
  const minutes = new Set<number>()
  const refused = new Set<string>()
  // ACTION:NONE switches the default alarm of Apple's calendars off.
  for (const alarm of alarms.filter((one) => String(property(one, 'action')?.[3] ?? '').toUpperCase() !== 'NONE')) {
    const before = minutesBefore(alarm, event, notes)
    if (before === undefined) refused.add('no time')
    else if (before < 0) refused.add('a time after the start')
    else if (before > maxMinutes) refused.add('a time more than 7 days before the start')
    else minutes.add(before)
  }
  for (const reason of refused) notes.push(`has an alarm of ${reason}, which is left out`)
  if (minutes.size > maxReminders) notes.push(`has ${minutes.size} alarms, of which ${maxReminders} are kept`)
  return [...minutes].slice(0, maxReminders)
}

function minutesBefore(alarm: Jcal, { start, end, zone, repeats }: AlarmedEvent, notes: string[]): number | undefined {
  const trigger = property(alarm, 'trigger')
  if (!trigger) return undefined
  const [, parameters, , value] = trigger
  const duration = readDuration(String(value ?? ''))
  if (duration) {
    const from = /^end$/i.test(parameters.related ?? '') ? end : start
    return Math.round((start - shift(from, duration, repeats ? undefined : zone)) / minuteMs)
  }
  const at = absoluteTime(trigger, zone)
  if (at === undefined) return undefined
  const note = 'has an alarm at an instant, which is kept as a reminder of each occurrence'
  if (repeats && !notes.includes(note)) notes.push(note)
  return Math.round((start - at) / minuteMs)
}

/** Days count by the clock of a zone; those of a series, whose reminders are the same for all occurrences, have 24 hours. */
function shift(at: number, { days, ms }: Duration, zone: string | undefined): number {
  if (days === 0 || zone === undefined) return at + days * dayMs + ms
  return fromWallClock(toWallClock(at, zone) + days * dayMs, zone) + ms
}

function absoluteTime(trigger: Parameters<typeof timesOf>[0], zone: string): number | undefined {
  try {
    const [time] = timesOf(trigger)
    if (!time || time.isDate) return undefined
    return time.isUtc ? time.wall : fromWallClock(time.wall, zone)
  } catch {
    return undefined
  }
}
