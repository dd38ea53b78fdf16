import { questionBudget } from '#shared/calendar/budget.ts'
import { type Busy, merged } from '#shared/calendar/busy.ts'
import { busyTimes } from '#shared/calendar/free-busy.ts'
import { requireZone } from '#shared/calendar/schemas.ts'
import { atWall, dateText, dayMs, instantText, minuteMs, readWindow, wallMs } from '#shared/calendar/time.ts'
import { problem } from '#shared/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import type { Scope } from '#shared/scope/scope.ts'

const clock = (closing: boolean) =>
  t.String({
    pattern: `^(?:(?:[01]\\d|2[0-3]):[0-5]\\d${closing ? '|24:00' : ''})$`,
    description: `a time as HH:MM${closing ? ', up to 24:00' : ''}`,
  })
const ids = t.Array(t.String(), { maxItems: 100 })

/** Who is to meet, and when at the earliest and latest. */
export const suggestInput = schema(
  t.Object(
    {
      users: t.Optional(ids),
      calendars: t.Optional(ids),
      from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone.' }),
      to: t.String({ description: 'The same; the whole of a day is in.' }),
      duration: t.Integer({ minimum: 5, maximum: 1_440, description: 'Minutes.' }),
      timezone: t.Optional(t.String({ maxLength: 64, description: "Of the days and hours; the workspace's when left out." })),
      day_start: t.Optional(clock(false)),
      day_end: t.Optional(clock(true)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: '10 when left out.' })),
    },
    { title: 'SuggestInput' },
  ),
)

/** Times at which everybody is free. */
export const suggestion = schema(
  t.Object(
    {
      slots: t.Array(t.Object({ start: t.String({ format: 'date-time' }), end: t.String({ format: 'date-time' }) })),
      unknown: t.Array(t.String(), { description: 'People whose calendars the caller cannot see.' }),
    },
    { title: 'Suggestion' },
  ),
)

/** Suggested times begin at full and half hours of the zone's clock. */
const stepMs = 30 * minuteMs

/** Times when everybody that the caller can see is free, the earliest first, each within the hours of one day (document 3, suggest). */
export async function suggest(scope: Scope, input: TypeOf<typeof suggestInput>): Promise<TypeOf<typeof suggestion>> {
  const { users = [], calendars = [], duration, day_start = '09:00', day_end = '17:00', limit = 10 } = input
  const zone = requireZone(input.timezone ?? scope.workspace.timezone)
  if (day_end <= day_start) throw problem('VALIDATION_ERROR', 'day_end must be after day_start')
  const window = readWindow(input.from, input.to, zone)
  const budget = questionBudget(scope)
  const times = await busyTimes(scope, users, calendars, window, budget)
  const missing = calendars.find((id) => !times.calendars.has(id.toLowerCase()))
  if (missing !== undefined) throw problem('NOT_FOUND')
  const busy = merged([...times.users.values(), ...times.calendars.values()].flat(), window)
  const slots: { start: string; end: string }[] = []
  // The first busy time that is not over.
  let next = 0
  for (const { start, end } of days(window, zone, day_start, day_end)) {
    for (let at = start; at + duration * minuteMs <= end && slots.length < limit; at += stepMs) {
      while ((busy[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next += 1
      const isFree = (busy[next]?.start ?? Number.POSITIVE_INFINITY) >= at + duration * minuteMs
      if (isFree) slots.push({ start: instantText(at), end: instantText(at + duration * minuteMs) })
    }
    if (slots.length === limit) break
    await budget.pause()
  }
  return { slots, unknown: users.filter((id) => !times.users.has(id.toLowerCase())) }
}

/** The hours of each day of a window, on the clock of a zone. */
function* days(window: { from: number; to: number }, zone: string, opens: string, closes: string): Generator<Busy> {
  const minutes = (clock: string) => (Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))) * minuteMs
  for (let day = Date.parse(`${dateText(wallMs(window.from, zone))}T00:00:00Z`); ; day += dayMs) {
    const [opensAt, end] = [atWall(day + minutes(opens), zone), Math.min(window.to, atWall(day + minutes(closes), zone))]
    if (opensAt >= window.to) return
    // What begins within the hours keeps to the steps of the day.
    const late = Math.max(0, Math.ceil((window.from - opensAt) / stepMs)) * stepMs
    yield { start: opensAt + late, end }
  }
}
