import { createHash } from 'node:crypto'
import { notify } from '#shared/core/notifications/notify.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { calendarAccessOf } from '#shared/features/calendar/access.ts'
import { announceEvent, startingEventName } from '#shared/features/calendar/announce.ts'
import { transactionBudget } from '#shared/features/calendar/budget.ts'
import { type Calendar, findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { eventAccessOf } from '#shared/features/calendar/events/access-level.ts'
import { type EventWithAnswer, findEventsInWindow } from '#shared/features/calendar/events/store.ts'
import { takeMailQuota } from '#shared/features/calendar/guests/mail-quota.ts'
import { organizerOf } from '#shared/features/calendar/guests/organizer.ts'
import { type Attendee, findAttendees } from '#shared/features/calendar/guests/store.ts'
import {
  betweenChecksMs,
  listenedMinutes,
  reachOf,
  reminderMinutesOf,
  scheduleReminderCheck,
} from '#shared/features/calendar/reminders/schedule.ts'
import { findLaterEvent, lockFiredUntil, writeFiredUntil } from '#shared/features/calendar/reminders/store.ts'
import { type EventOccurrence, listOccurrencesIn } from '#shared/features/calendar/series/occurrences.ts'
import { eventTimeInWords } from '#shared/features/calendar/time-in-words.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { dayMs, minuteMs } from '#shared/platform/kernel/time/units.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'

/** A reminder, or an event for flows, that falls `minutes` before an occurrence. `at` is in epoch milliseconds. */
interface Reminder {
  readonly happens: EventOccurrence<EventWithAnswer>
  readonly kind: 'reminder' | 'starting'
  readonly minutes: number
  readonly at: number
}

/** Occurrences that one check reads. */
const maxOccurrences = 10_000

/**
 * Fires the reminders and flow triggers of a calendar that fell due since its last check, and schedules the next check. One transaction
 * does all of it, so nothing fires twice. Nothing fires that was past when its event was created or moved, or whose occurrence is over.
 */
export function fireReminders(scope: Scope, calendarId: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const calendar = await firstRow(tx, findCalendar({ workspaceId: scope.workspace.id, userId: null, id: calendarId }))
    const fired = await firstRow(tx, lockFiredUntil({ workspaceId: scope.workspace.id, calendarId }))
    if (!calendar || !fired) return
    const now = scope.now().getTime()
    const since = fired.fired_until === null ? now - dayMs : Date.parse(fired.fired_until)
    const listened = await listenedMinutes(inside, calendar)
    const reminders = await listReminders(inside, calendar, listened, since, now)
    for (const reminder of reminders.filter(({ at }) => at > since && at <= now)) await fire(inside, calendar, reminder)
    await tx.query(writeFiredUntil({ workspaceId: scope.workspace.id, calendarId, firedUntil: new Date(Math.max(since, now)) }))
    await scheduleNextCheck(inside, calendar, reminders, { now, reachMs: reachOf(listened) })
  })
}

async function listReminders(
  scope: Scope,
  calendar: Calendar,
  listened: readonly number[],
  since: number,
  now: number,
): Promise<Reminder[]> {
  const window = { from: Math.min(since, now), to: now + reachOf(listened) }
  const dates = { from: new Date(window.from), to: new Date(window.to) }
  const found = await scope.db.query(
    findEventsInWindow({ workspaceId: scope.workspace.id, calendarIds: [calendar.id], ...dates, userId: null }),
  )
  const happens = await listOccurrencesIn(found, window, () => calendar.timezone, transactionBudget(scope), maxOccurrences)
  return happens
    .filter(({ event, to, from }) => event.status !== 'cancelled' && Math.max(to, from + minuteMs) > now)
    .flatMap((occurrence) => {
      const reminder = (kind: Reminder['kind'], minutes: number): Reminder => ({
        happens: occurrence,
        kind,
        minutes,
        at: occurrence.from - minutes * minuteMs,
      })
      const reminders = [
        ...reminderMinutesOf(occurrence.event, calendar).map((minutes) => reminder('reminder', minutes)),
        ...listened.map((minutes) => reminder('starting', minutes)),
      ]
      return reminders.filter(({ at }) => at >= Date.parse(occurrence.event.timed_at))
    })
}

async function fire(scope: Scope, calendar: Calendar, { happens, kind, minutes }: Reminder): Promise<void> {
  const { event, when, from } = happens
  const guests = (await findAttendees(scope.db, scope.workspace.id, [event.id])).get(event.id) ?? []
  if (kind === 'reminder') return remindGuests(scope, calendar, happens, guests, minutes)
  const id = stableId(`${startingEventName(minutes)} ${event.id} ${from}`, from - minutes * minuteMs)
  await announceEvent(scope, calendar, startingEventName(minutes), event, guests, { id, when })
}

/** The next check is at the next reminder, but no later than what lies beyond the reach of this one may fire. */
async function scheduleNextCheck(
  scope: Scope,
  calendar: Calendar,
  reminders: readonly Reminder[],
  { now, reachMs }: { readonly now: number; readonly reachMs: number },
): Promise<void> {
  const next = Math.min(...reminders.filter(({ at }) => at > now).map(({ at }) => at))
  const latest = now + betweenChecksMs
  const after = new Date(now + reachMs)
  const hasMore =
    next > latest && (await firstRow(scope.db, findLaterEvent({ workspaceId: scope.workspace.id, calendarId: calendar.id, after })))
  const at = hasMore ? latest : next
  if (Number.isFinite(at)) await scheduleReminderCheck(scope, calendar.id, at)
}

/**
 * Reminds the host and all guests who have not declined: members by a notification, other guests by mail, each at most once
 * (docs/contract/calendar.md#reminders). The host is the owner of the calendar, on a team calendar the creator of the event while that
 * person still sees it.
 */
async function remindGuests(
  scope: Scope,
  calendar: Calendar,
  happens: EventOccurrence<EventWithAnswer>,
  guests: readonly Attendee[],
  minutes: number,
): Promise<void> {
  const { event, from } = happens
  const attending = guests.filter(({ status }) => status !== 'declined')
  const host = await hostOf(scope, calendar, event)
  const members = [...new Set([...attending.flatMap(({ user_id }) => user_id ?? []), ...(host === undefined ? [] : [host])])]
  const key = `reminder ${event.id} ${from} ${minutes}`
  const title = `${event.title}: ${eventTimeInWords(happens.when)}`
  await notify(scope, members, [{ title, record: linkOf(event), event: 'calendar.reminder', key }])
  // Guests of an imported event are reminded by its own organizer.
  if (event.organizer === null)
    await mailGuests(
      scope,
      calendar,
      happens,
      attending.filter(({ user_id }) => user_id === null),
      key,
    )
}

const linkOf = ({ record_type, record_id }: EventWithAnswer) =>
  record_type !== null && record_id !== null ? { type: record_type, id: record_id } : null

async function hostOf(scope: Scope, calendar: Calendar, event: EventWithAnswer): Promise<string | undefined> {
  if (calendar.owner_id !== null) return calendar.owner_id
  const creator = event.created_by === null ? undefined : await loadActor(scope.cache, scope.db, scope.workspace.id, event.created_by)
  if (creator?.type !== 'user' || creator.id === null) return undefined
  return eventAccessOf(event, { access: calendarAccessOf(calendar, creator), isGuest: false }) === 'details' ? creator.id : undefined
}

async function mailGuests(
  scope: Scope,
  calendar: Calendar,
  { event, when, from }: EventOccurrence<EventWithAnswer>,
  guests: readonly Attendee[],
  key: string,
): Promise<void> {
  if (guests.length === 0) return
  const allowed = await takeMailQuota(
    scope,
    guests.map(({ email }) => email),
    'calendar',
  )
  const { email: organizer } = await organizerOf(scope, event.created_by, calendar)
  for (const guest of guests.filter((_, index) => allowed[index])) {
    const locationLine = event.location === '' ? '' : `  ${event.location}\n`
    await queueMail(scope, {
      id: stableId(`${key} ${guest.id}`, from),
      workspaceId: scope.workspace.id,
      kind: 'calendar',
      to: guest.email,
      subject: `Reminder: ${event.title}`,
      ...(organizer === null ? {} : { headers: { 'Reply-To': organizer } }),
      text: `This event is coming up.\n\n  ${event.title}\n  ${eventTimeInWords(when)}\n${locationLine}`,
    })
  }
}

/** A UUID of version 7 that is derived from a text and a time in epoch milliseconds: equal input gives an equal id. */
function stableId(text: string, ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12)
  const hash = createHash('sha256').update(text).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}
