import type { Scope } from '#shared/core/scope/scope.ts'
import { type BusyTime, mergeTimes } from '#shared/features/calendar/availability/busy-times.ts'
import { busyTimes } from '#shared/features/calendar/availability/free-busy.ts'
import { queryBudget } from '#shared/features/calendar/budget.ts'
import { requireTimeZone } from '#shared/features/calendar/schemas.ts'
import { dateText, dayMs, fromWallClock, instantText, minuteMs, readTimeWindow, toWallClock } from '#shared/features/calendar/time.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const clock = (closing: boolean) =>
  t.String({
    pattern: `^(?:(?:[01]\\d|2[0-3]):[0-5]\\d${closing ? '|24:00' : ''})$`,
    description: `a time as HH:MM${closing ? ', up to 24:00' : ''}`,
  })
const ids = t.Array(t.String(), { maxItems: 100 })

/** The people and calendars that are to be free, the length of the meeting and the window to search. */
export const suggestInput = schema(
  t.Object(
    {
      users: t.Optional(ids),
      calendars: t.Optional(ids),
      from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone.' }),
      to: t.String({ description: 'The same; a date includes the whole day.' }),
      duration: t.Integer({ minimum: 5, maximum: 1_440, description: 'Minutes.' }),
      timezone: t.Optional(t.String({ maxLength: 64, description: "Time zone of the days and hours; the workspace's when left out." })),
      day_start: t.Optional(clock(false)),
      day_end: t.Optional(clock(true)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: '10 when left out.' })),
    },
    { title: 'SuggestInput' },
  ),
)

/** Suggested times, and the people whose calendars were not considered. */
export const suggestedTimes = schema(
  t.Object(
    {
      slots: t.Array(t.Object({ start: t.String({ format: 'date-time' }), end: t.String({ format: 'date-time' }) })),
      unknown: t.Array(t.String(), { description: 'People whose calendars the caller cannot see.' }),
    },
    { title: 'Suggestion' },
  ),
)

/** Suggested times begin every 30 minutes from `day_start` on. */
const stepMs = 30 * minuteMs

/**
 * The times when everybody whom the caller can see is free, earliest first, each within the hours of one day (document 3, suggest). Throws
 * VALIDATION_ERROR, and NOT_FOUND for a calendar that the caller cannot see.
 */
export async function suggestTimes(scope: Scope, input: TypeOf<typeof suggestInput>): Promise<TypeOf<typeof suggestedTimes>> {
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
  const minutes = (clock: string) => (Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))) * minuteMs
  for (let day = Date.parse(`${dateText(toWallClock(window.from, zone))}T00:00:00Z`); ; day += dayMs) {
    const [opensAt, end] = [fromWallClock(day + minutes(opens), zone), Math.min(window.to, fromWallClock(day + minutes(closes), zone))]
    if (opensAt >= window.to) return
    // A window that begins within the hours still starts at a step counted from `opens`.
    const delayMs = Math.max(0, Math.ceil((window.from - opensAt) / stepMs)) * stepMs
    yield { start: opensAt + delayMs, end }
  }
}
