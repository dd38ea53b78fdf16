import type { Scope } from '#shared/core/scope/scope.ts'
import { eventsAsGuest, eventsOnCalendars, isGuestBusy } from '#shared/features/calendar/availability/busy-times.ts'
import { isBusy } from '#shared/features/calendar/availability/overlap.ts'
import { type BookingPage, bookingPageOf, minutesAfterMidnight } from '#shared/features/calendar/booking/settings.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, findCalendarByKey, listOwnedCalendars } from '#shared/features/calendar/calendars/store.ts'
import type { ListedEvent } from '#shared/features/calendar/events/store.ts'
import { bookingWeekdays } from '#shared/features/calendar/schemas.ts'
import { type EventOccurrence, visitOccurrences } from '#shared/features/calendar/series/occurrences.ts'
import { dateMs, dayInZone, plainDateTime, type TimeWindow, toWallClock, weekdayFromMonday } from '#shared/features/calendar/time.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** An open booking page: its calendar and its settings. */
export interface OpenBookingPage {
  readonly calendar: Calendar
  readonly page: BookingPage
}

/** The booking page of a calendar, by the calendar's key. Throws NOT_FOUND unless it is enabled; records calendars have none. */
export async function requireBookingPage(scope: Scope, key: string): Promise<OpenBookingPage> {
  const calendar = await firstRow(scope.db, findCalendarByKey({ workspaceId: scope.workspace.id, userId: null, key }))
  const page = bookingPageOf(calendar?.settings.booking)
  if (!calendar || calendar.kind === 'records' || !page.enabled) throw problem('NOT_FOUND')
  return { calendar, page }
}

/** The length of a booking in minutes, by default the first one of the page. Throws VALIDATION_ERROR for any other length. */
export function requireDuration({ durations }: BookingPage, minutes: number | undefined): number {
  const duration = minutes ?? durations[0] ?? 30
  if (!durations.includes(duration)) throw problem('VALIDATION_ERROR', `duration must be one of ${durations.join(', ')}`)
  return duration
}

/** A start within the hours of a page, in epoch milliseconds, with the reason why it cannot be booked. */
export interface SlotStart {
  readonly at: number
  /** Undefined for a free start. */
  readonly reason?: 'notice' | 'horizon' | Blocking['reason'] | undefined
  /** The event that makes the start busy, or whose buffer the start would touch. */
  readonly event?: Blocking['event'] | undefined
}

/** Why an event refuses a start. */
interface Blocking {
  readonly reason: 'busy' | 'buffer'
  readonly event: Pick<ListedEvent, 'id' | 'calendar_id'>
}

/** Budget steps per range of hours, whose edges are computed in local time, and per start. */
const [stepsPerRange, stepsPerStart] = [60, 2]

/**
 * The starts of a page in a window, both free and refused, in order. Listing slots and booking share this function. One buffer is kept free
 * between a booking and the next event on either side.
 */
export async function listSlotStarts(scope: Scope, open: OpenBookingPage, window: TimeWindow, minutes: number): Promise<SlotStart[]> {
  const { calendar, page } = open
  const budget = queryBudget(scope)
  const now = scope.now().getTime()
  const [earliest, latest] = [now + page.minNotice * minuteMs, now + page.horizonDays * dayMs]
  const ordered = await startsWithin(open, { from: window.from, to: window.to }, latest, minutes, budget)
  const free = ordered.filter((at) => at >= earliest && at <= latest)
  const reasons = await reasonsOf(scope, calendar, free, { buffer: page.buffer * minuteMs, length: minutes * minuteMs }, budget)
  return ordered.map((at) => {
    if (at < earliest) return { at, reason: 'notice' }
    return at > latest ? { at, reason: 'horizon' } : { at, ...reasons.get(at) }
  })
}

/** The starts within the hours of a page, in order, without duplicates. */
async function startsWithin(
  { calendar, page }: OpenBookingPage,
  window: TimeWindow,
  latest: number,
  minutes: number,
  budget: ComputeBudget,
): Promise<number[]> {
  const starts = new Set<number>()
  for (const { from, to, startsBefore } of openingHours(page, calendar.timezone, {
    from: window.from - dayMs,
    to: Math.min(window.to, latest + dayMs),
  })) {
    budget.takeSteps(stepsPerRange)
    for (let at = from; at < startsBefore && at + minutes * minuteMs <= to; at += page.slotStep * minuteMs) {
      if (at < window.from || at >= window.to) continue
      budget.takeSteps(stepsPerStart)
      starts.add(at)
    }
    await budget.pause()
  }
  return [...starts].sort((a, b) => a - b)
}

/** A range of hours. `startsBefore` ends its starts; a booking may last until `to`. */
interface OpenRange extends TimeWindow {
  readonly startsBefore: number
}

/**
 * The hours of a page as instants, in order. Ranges that touch are one, also across midnight; one that begins before the window is whole. A
 * page that never closes has a range for each day. Edges are local times. An edge that a clock change skips moves to the change; in an hour
 * that repeats, the first start and the last end count (docs/contract/calendar.md#slots).
 */
export function* openingHours({ hours }: Pick<BookingPage, 'hours'>, zone: string, { from, to }: TimeWindow): Generator<OpenRange> {
  const midnight = (ms: number) => dateMs(dayInZone(ms, zone))
  const [first, last] = [midnight(from), midnight(to)]
  const rangesOfDay = (day: number) => joinRanges(dayRanges(hours, day))
  const neverCloses = Array.from({ length: 7 }, (_, index) => rangesOfDay(index * dayMs)).every(
    ([one]) => one && one.to - one.from === dayMs,
  )
  const days = Array.from({ length: (last - first) / dayMs + 1 + 2 * 7 }, (_, index) => first + (index - 7) * dayMs)
  const ranges = neverCloses ? days.flatMap(rangesOfDay) : joinRanges(days.flatMap((day) => dayRanges(hours, day)))
  for (const range of ranges) {
    if (range.to <= first) continue
    const start = instantOfEdge(range.from, zone, 'earlier')
    if (start >= to) return
    const startsBefore = closingInstant(range.to, zone)
    // A booking takes a day at most; a day may have less than 24 hours.
    const end = neverCloses ? closingInstant(range.to + 2 * dayMs, zone) : startsBefore
    if (startsBefore > start) yield { from: start, to: end, startsBefore }
  }
}

/** The ranges of a day in local time, in order of time. */
function dayRanges(hours: BookingPage['hours'], day: number): TimeWindow[] {
  const name = bookingWeekdays[weekdayFromMonday(day / dayMs)]
  return ((name && hours[name]) || [])
    .map(([opens, closes]) => ({ from: day + minutesAfterMidnight(opens) * minuteMs, to: day + minutesAfterMidnight(closes) * minuteMs }))
    .sort((a, b) => a.from - b.from)
}

/** Ranges in order of time, those that touch as one. */
function joinRanges(ranges: readonly TimeWindow[]): TimeWindow[] {
  const joined: TimeWindow[] = []
  for (const range of ranges) {
    const before = joined.at(-1)
    if (before && before.to === range.from) joined[joined.length - 1] = { from: before.from, to: range.to }
    else joined.push(range)
  }
  return joined
}

/** The instant at which hours end: right after the last moment whose local time is earlier. */
function closingInstant(wall: number, zone: string): number {
  const last = wall - 1
  const at = instantOfEdge(last, zone, 'later')
  return toWallClock(at, zone) === last ? at + 1 : at
}

/** The instant of a local time: `which` one where a clock change repeats it, the change itself where it skips it. */
function instantOfEdge(wall: number, zone: string, which: 'earlier' | 'later'): number {
  const localTime = plainDateTime(wall)
  const at = localTime.toZonedDateTime(zone, { disambiguation: which })
  if (toWallClock(at.epochMilliseconds, zone) === wall) return at.epochMilliseconds
  const before = localTime.toZonedDateTime(zone, { disambiguation: 'earlier' })
  return before.getTimeZoneTransition('next')?.epochMilliseconds ?? at.epochMilliseconds
}

interface SlotNeeds {
  /** Milliseconds to keep free on either side. */
  readonly buffer: number
  /** Milliseconds of the booking. */
  readonly length: number
}

/**
 * The reasons why starts are refused, by start; free starts are left out. Starts come in order. A person's page is busy when its owner is,
 * any other page when its calendar has an event. Occurrences are visited up to the last start and kept only while they reach one.
 */
async function reasonsOf(
  scope: Scope,
  calendar: Calendar,
  starts: readonly number[],
  { buffer, length }: SlotNeeds,
  budget: ComputeBudget,
): Promise<Map<number, Blocking>> {
  const reasons = new Map<number, Blocking>()
  const [first, last] = [starts[0], starts.at(-1)]
  if (first === undefined || last === undefined) return reasons
  const window = { from: first - buffer, to: last + length + buffer }
  const { events, zoneOf, countsAsBusy } = await findBlockingEvents(scope, calendar, window)
  let near: EventOccurrence<ListedEvent>[] = []
  let nextStart = 0
  // Decides the starts that no occurrence from `reached` on can block. Returns whether starts are left.
  const decideUntil = (reached: number) => {
    for (; nextStart < starts.length && (starts[nextStart] as number) + length + buffer <= reached; nextStart++) {
      if (near.length === 0) continue
      const at = starts[nextStart] as number
      budget.takeSteps(near.length)
      near = near.filter(({ to }) => to > at - buffer)
      const reason = reasonAt(near, at, { buffer, length })
      if (reason !== undefined) reasons.set(at, reason)
    }
    return nextStart < starts.length
  }
  await visitOccurrences(events, window, zoneOf, budget, (occurrence) => {
    if (!countsAsBusy(occurrence.event)) return true
    const hasStartsLeft = decideUntil(occurrence.from)
    near.push(occurrence)
    return hasStartsLeft
  })
  decideUntil(Number.POSITIVE_INFINITY)
  return reasons
}

/** Why a start is not free; undefined when it is. `near` holds the occurrences that may reach it, in order. */
function reasonAt(near: readonly EventOccurrence<ListedEvent>[], at: number, { buffer, length }: SlotNeeds): Blocking | undefined {
  let reason: Blocking | undefined
  for (const { event, from, to } of near) {
    if (from >= at + length + buffer) break
    if (from < at + length && to > at) return { reason: 'busy', event }
    reason ??= { reason: 'buffer', event }
  }
  return reason
}

/** The events that may make a page busy, their zones, and which of them count as busy. */
async function findBlockingEvents(scope: Scope, calendar: Calendar, window: TimeWindow) {
  const { db, workspace } = scope
  const owner = calendar.owner_id
  const own = await eventsOnCalendars(
    scope,
    owner === null ? [calendar] : await db.query(listOwnedCalendars({ workspaceId: workspace.id, userId: null, ownerIds: [owner] })),
    window,
  )
  const asGuest = owner === null ? [] : (await eventsAsGuest(scope, owner, window)).events
  const guestEventIds = new Set(asGuest.map(({ id }) => id))
  return {
    events: [...own.events, ...asGuest],
    zoneOf: (event: ListedEvent) => (guestEventIds.has(event.id) ? event.timezone : own.zoneOf(event)),
    countsAsBusy: (event: ListedEvent) => (guestEventIds.has(event.id) ? isGuestBusy(event) : isBusy(event)),
  }
}
