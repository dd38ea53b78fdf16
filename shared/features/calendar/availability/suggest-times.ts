import type { Scope } from '#shared/core/scope/scope.ts'
import { type BusyTime, mergeTimes } from '#shared/features/calendar/availability/busy-times.ts'
import { busyTimes } from '#shared/features/calendar/availability/free-busy.ts'
import type { SuggestedTimes, SuggestInput } from '#shared/features/calendar/availability/schemas.ts'
import { minutesAfterMidnight } from '#shared/features/calendar/booking/settings.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { requireTimeZone } from '#shared/features/calendar/schemas.ts'
import { dateMs, dayInZone, fromWallClock, instantText, readTimeWindow } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** Suggested times begin every 30 minutes from `day_start` on. */
const stepMs = 30 * minuteMs

/**
 * The times when everybody whom the caller can see is free, earliest first, each within the hours of one day
 * (docs/contract/calendar.md#suggested-times). Throws VALIDATION_ERROR, and NOT_FOUND for a calendar that the caller cannot see.
 */
export async function suggestTimes(scope: Scope, input: SuggestInput): Promise<SuggestedTimes> {
  const { users = [], calendars = [], duration, day_start = '09:00', day_end = '17:00', limit = 10 } = input
  const zone = requireTimeZone(input.timezone ?? scope.workspace.timezone)
  if (day_end <= day_start) throw problem('VALIDATION_ERROR', 'day_end must be after day_start')
  const window = readTimeWindow(input.from, input.to, zone)
  const budget = queryBudget(scope)
  const times = await busyTimes(scope, users, calendars, window, budget)
  const unseen = calendars.find((id) => !times.calendars.has(id.toLowerCase()))
  if (unseen !== undefined) throw problem('NOT_FOUND')
  const busy = mergeTimes([...times.users.values(), ...times.calendars.values()].flat(), window)
  const slots: { start: string; end: string }[] = []
  // Index of the first busy time that has not ended.
  let nextBusy = 0
  for (const { start, end } of dailyHours(window, zone, day_start, day_end)) {
    for (let at = start; at + duration * minuteMs <= end && slots.length < limit; at += stepMs) {
      while ((busy[nextBusy]?.end ?? Number.POSITIVE_INFINITY) <= at) nextBusy += 1
      const isFree = (busy[nextBusy]?.start ?? Number.POSITIVE_INFINITY) >= at + duration * minuteMs
      if (isFree) slots.push({ start: instantText(at), end: instantText(at + duration * minuteMs) })
    }
    if (slots.length === limit) break
    await budget.pause()
  }
  return { slots, unknown: users.filter((id) => !times.users.has(id.toLowerCase())) }
}

/** The given hours of each day of a window, in the local time of a zone. */
function* dailyHours(window: { from: number; to: number }, zone: string, opens: string, closes: string): Generator<BusyTime> {
  for (let day = dateMs(dayInZone(window.from, zone)); ; day += dayMs) {
    const at = (clock: string) => fromWallClock(day + minutesAfterMidnight(clock) * minuteMs, zone)
    const [opensAt, end] = [at(opens), Math.min(window.to, at(closes))]
    if (opensAt >= window.to) return
    // A window that begins within the hours still starts at a step counted from `opens`.
    const delayMs = Math.max(0, Math.ceil((window.from - opensAt) / stepMs)) * stepMs
    yield { start: opensAt + delayMs, end }
  }
}
