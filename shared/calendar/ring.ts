import { findAttendees } from '#shared/calendar/attendees-store.ts'
import { transactionBudget } from '#shared/calendar/budget.ts'
import { type Calendar, findCalendar } from '#shared/calendar/calendars-store.ts'
import { type FoundEvent, findEventsInWindow } from '#shared/calendar/events-store.ts'
import { type Happens, happensIn } from '#shared/calendar/occurrences.ts'
import { remind } from '#shared/calendar/remind.ts'
import { hasLaterEvents, lockFiredUntil, writeFiredUntil } from '#shared/calendar/ring-store.ts'
import { lookAt, reachMs, remindersOf, startingMinutes } from '#shared/calendar/signals.ts'
import { stableId } from '#shared/calendar/stable-id.ts'
import { dayMs, minuteMs } from '#shared/calendar/time.ts'
import { announceEvent, startingWord } from '#shared/calendar/trigger.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/** Something that an occurrence announces so many minutes ahead. */
interface Signal {
  readonly happens: Happens<FoundEvent>
  readonly kind: 'reminder' | 'starting'
  readonly minutes: number
  readonly at: number
}

/** Occurrences that one look takes in. */
const mostOccurrences = 10_000

/**
 * Fires what a calendar's events announce and what fell due since it looked last: reminders of guests, and flows that start so many minutes
 * ahead. It sets when it looks next. All of it is one transaction, so nothing is fired twice; what lay in the past when an event was made or
 * moved is not fired, nor what is over by now.
 */
export function ringCalendar(scope: Scope, calendarId: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const calendar = await findCalendar(tx, scope.workspace.id, null, calendarId)
    const until = await lockFiredUntil(tx, scope.workspace.id, calendarId)
    if (!calendar || until === undefined) return
    const now = scope.now().getTime()
    const since = until === null ? now - dayMs : Date.parse(until)
    const signals = await signalsOf(inside, calendar, since, now)
    for (const signal of signals.filter(({ at }) => at > since && at <= now)) await fire(inside, calendar, signal)
    await writeFiredUntil(tx, scope.workspace.id, calendarId, new Date(Math.max(since, now)))
    await lookAgain(inside, calendar, signals, now)
  })
}

async function signalsOf(scope: Scope, calendar: Calendar, since: number, now: number): Promise<Signal[]> {
  const starting = await startingMinutes(scope, calendar)
  const window = { from: Math.min(since, now), to: now + reachMs }
  const found = await findEventsInWindow(
    scope.db,
    scope.workspace.id,
    [calendar.id],
    { from: new Date(window.from), to: new Date(window.to) },
    null,
  )
  const happens = await happensIn(found, window, () => calendar.timezone, transactionBudget(scope), mostOccurrences)
  return happens
    .filter(({ event, to, from }) => event.status !== 'cancelled' && Math.max(to, from + minuteMs) > now)
    .flatMap((one) => {
      const signal = (kind: Signal['kind'], minutes: number): Signal => ({ happens: one, kind, minutes, at: one.from - minutes * minuteMs })
      const all = [
        ...remindersOf(one.event, calendar).map((minutes) => signal('reminder', minutes)),
        ...starting.map((minutes) => signal('starting', minutes)),
      ]
      return all.filter(({ at }) => at >= Date.parse(one.event.timed_at))
    })
}

async function fire(scope: Scope, calendar: Calendar, { happens, kind, minutes }: Signal): Promise<void> {
  const { event, when, from } = happens
  const guests = (await findAttendees(scope.db, scope.workspace.id, [event.id])).get(event.id) ?? []
  if (kind === 'reminder') return remind(scope, calendar, happens, guests, minutes)
  const id = stableId(`${startingWord(minutes)} ${event.id} ${from}`, from - minutes * minuteMs)
  await announceEvent(scope, calendar, startingWord(minutes), event, guests, { id, when })
}

/** The next time is that of the next signal; with none in reach, when what lies beyond may have come near. */
async function lookAgain(scope: Scope, calendar: Calendar, signals: readonly Signal[], now: number): Promise<void> {
  const next = Math.min(...signals.filter(({ at }) => at > now).map(({ at }) => at))
  if (Number.isFinite(next)) return lookAt(scope, calendar.id, next)
  if (await hasLaterEvents(scope.db, scope.workspace.id, calendar.id, new Date(now + reachMs)))
    await lookAt(scope, calendar.id, now + reachMs - dayMs)
}
