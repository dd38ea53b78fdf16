import { type BookingPage, bookingPage } from '#shared/calendar/booking/settings.ts'
import { openWindows } from '#shared/calendar/booking/windows.ts'
import { busyElsewhere, busyOnCalendars } from '#shared/calendar/busy.ts'
import { type Calendar, findCalendarByKey, listOwnedCalendars } from '#shared/calendar/calendars-store.ts'
import type { ListedEvent } from '#shared/calendar/events-store.ts'
import type { Happens } from '#shared/calendar/occurrences.ts'
import { dayMs, minuteMs, type Window } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** An open booking page: its calendar and its settings. */
export interface OpenPage {
  readonly calendar: Calendar
  readonly page: BookingPage
}

/** The booking page of a calendar; NOT_FOUND when there is none that is open. */
export async function requirePage(scope: Scope, key: string): Promise<OpenPage> {
  const calendar = await findCalendarByKey(scope.db, scope.workspace.id, key)
  const page = bookingPage(calendar?.settings.booking)
  if (!calendar || calendar.kind === 'records' || !page.enabled) throw problem('NOT_FOUND')
  return { calendar, page }
}

/** The length of a booking in minutes: one of the page's, the first when none is named. */
export function requireDuration({ durations }: BookingPage, minutes: number | undefined): number {
  const duration = minutes ?? durations[0] ?? 30
  if (!durations.includes(duration)) throw problem('VALIDATION_ERROR', `duration must be one of ${durations.join(', ')}`)
  return duration
}

/** A start within the hours of a page: free, or why it cannot be booked. */
export interface Start {
  readonly at: number
  /** `notice`, `horizon`, `busy:<calendar id>` or `buffer:<event id>`; undefined for a slot. */
  readonly reason: string | undefined
}

/**
 * The starts of a page in a window, those that can be booked and those that cannot. Listing slots and booking ask this one function. The
 * buffer is kept free between a booking and the next event on either side, once.
 */
export async function startsOfPage(scope: Scope, { calendar, page }: OpenPage, window: Window, minutes: number): Promise<Start[]> {
  const now = scope.now().getTime()
  const [earliest, latest] = [now + page.minNotice * minuteMs, now + page.horizonDays * dayMs]
  const starts = new Set<number>()
  for (const { from, to } of openWindows(page, calendar.timezone, { from: window.from - dayMs, to: Math.min(window.to, latest + dayMs) })) {
    for (let at = from; at + minutes * minuteMs <= to; at += page.slotStep * minuteMs)
      if (at >= window.from && at < window.to) starts.add(at)
  }
  const ordered = [...starts].sort((a, b) => a - b)
  const open = ordered.filter((at) => at >= earliest && at <= latest)
  const buffer = page.buffer * minuteMs
  const taken =
    open.length === 0
      ? []
      : await takenTimes(scope, calendar, { from: (open[0] ?? 0) - buffer, to: (open.at(-1) ?? 0) + minutes * minuteMs + buffer })
  const reasonOf = clashes(taken, buffer, minutes * minuteMs)
  return ordered.map((at) => ({ at, reason: at < earliest ? 'notice' : at > latest ? 'horizon' : reasonOf(at) }))
}

/** What takes the time of a page: of a personal one whatever makes its owner busy, else the events of its calendar. In order of their start. */
async function takenTimes(scope: Scope, calendar: Calendar, window: Window): Promise<Happens<ListedEvent>[]> {
  const { db, workspace } = scope
  const own = calendar.owner_id === null ? [calendar] : await listOwnedCalendars(db, workspace.id, null, [calendar.owner_id])
  const happens = [...(await busyOnCalendars(scope, own, window)).values()].flat()
  const elsewhere = calendar.owner_id === null ? [] : [...(await busyElsewhere(scope, [calendar.owner_id], window)).values()].flat()
  return [...happens, ...elsewhere].sort((a, b) => a.from - b.from)
}

/** Why a start is not free; asked for starts in their order it looks at each event a few times. */
function clashes(taken: readonly Happens<ListedEvent>[], buffer: number, length: number): (at: number) => string | undefined {
  // How long the longest of what began before goes on: an event before this place cannot reach later ones.
  const ends: number[] = []
  for (const { to } of taken) ends.push(Math.max(to, ends.at(-1) ?? Number.NEGATIVE_INFINITY))
  return (at) => {
    const [from, to] = [at - buffer, at + length + buffer]
    let near: string | undefined
    for (let index = firstAfter(ends, from); index < taken.length; index++) {
      const one = taken[index] as Happens<ListedEvent>
      if (one.from >= to) break
      if (one.to <= from) continue
      if (one.from < at + length && one.to > at) return `busy:${one.event.calendar_id}`
      near ??= `buffer:${one.event.id}`
    }
    return near
  }
}

/** The first place of a list that never falls whose value is greater. */
function firstAfter(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) > value) high = middle
    else low = middle + 1
  }
  return low
}
