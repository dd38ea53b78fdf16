import { accessTo } from '#shared/calendar/access.ts'
import { type Calendar, findCalendar } from '#shared/calendar/calendars-store.ts'
import { type Attendee, type EventRow, whenOf } from '#shared/calendar/event.ts'
import { sightOf } from '#shared/calendar/sight.ts'
import { shownTime, type When } from '#shared/calendar/when.ts'
import { announceEvents } from '#shared/events/announce.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The name under which calendars announce what happens to their events. A topic is a calendar's key; the empty text means every calendar. */
export const calendarSource = 'calendar'

/** What happens to an event of a calendar; `starting` carries the minutes ahead: `starting 15`. */
export const triggerWords = ['created', 'updated', 'cancelled'] as const
export const startingWord = (minutesBefore: number): string => `starting ${minutesBefore}`
/** The minutes of such a word; undefined for any other. */
export const minutesOfWord = (word: string): number | undefined => {
  const [, minutes] = /^starting (\d+)$/.exec(word) ?? []
  return minutes === undefined ? undefined : Number(minutes)
}

/** An event as a flow has it, `{{trigger.calendar_event.…}}` (decisions, Flows), with what says who may see it. */
export interface TriggerEvent {
  readonly id: string
  readonly calendar_key: string
  readonly title: string
  readonly description: string
  readonly location: string
  readonly start: string
  readonly end: string
  readonly all_day: boolean
  readonly attendees: readonly { readonly email: string; readonly name: string; readonly status: string }[]
  readonly calendar_id: string
  readonly visibility: 'default' | 'private'
  readonly guest_ids: readonly string[]
}

type Guest = Pick<Attendee, 'email' | 'name' | 'status' | 'user_id'>

export function triggerEvent(
  { key, id }: Pick<Calendar, 'key' | 'id'>,
  event: EventRow,
  guests: readonly Guest[],
  when: When = whenOf(event),
): TriggerEvent {
  return {
    id: event.id,
    calendar_key: key,
    title: event.title,
    description: event.description,
    location: event.location,
    start: shownTime(when.start, when.allDay),
    end: shownTime(when.end, when.allDay),
    all_day: when.allDay,
    attendees: guests.map(({ email, name, status }) => ({ email, name, status })),
    calendar_id: id,
    visibility: event.visibility,
    guest_ids: guests.flatMap(({ user_id }) => (user_id === null ? [] : [user_id])),
  }
}

/** Tells the flows that listen what happened to an event, in the transaction that makes it so. */
export async function announceEvent(
  scope: Scope,
  calendar: Pick<Calendar, 'key' | 'id'>,
  word: string,
  event: EventRow,
  guests: readonly Guest[],
  said: { readonly id?: string; readonly when?: When } = {},
): Promise<void> {
  const happening = { id: said.id ?? newId(), subjectId: event.id, snapshot: triggerEvent(calendar, event, guests, said.when) }
  await announceEvents(scope, { source: calendarSource, topics: [calendar.key, ''], event: word, happenings: [happening] })
}

/** Tells of many events that came at once. */
export async function announceImported(
  scope: Scope,
  calendar: Pick<Calendar, 'key' | 'id'>,
  word: (typeof triggerWords)[number],
  events: readonly {
    readonly event: EventRow
    readonly guests: readonly (readonly [EventRow, readonly Pick<Attendee, 'email' | 'name' | 'status'>[]])[]
  }[],
): Promise<void> {
  const happenings = events.map(({ event, guests }) => {
    const own = guests.find(([of]) => of.id === event.id)?.[1] ?? []
    return {
      id: newId(),
      subjectId: event.id,
      snapshot: triggerEvent(
        calendar,
        event,
        own.map((guest) => ({ ...guest, user_id: null })),
      ),
    }
  })
  await announceEvents(scope, { source: calendarSource, topics: [calendar.key, ''], event: word, happenings })
}

/** How an actor sees an announced event: `own` is one of its own personal calendar, `team` one of a calendar that is nobody's own. */
export type TriggerSight = 'own' | 'team' | 'details' | 'none'

/** What the scope's actor sees of an event that was announced: all of it, or nothing. */
export async function sightOfTrigger(
  scope: Scope,
  event: Pick<TriggerEvent, 'calendar_id' | 'visibility' | 'guest_ids'>,
): Promise<TriggerSight> {
  const { actor, db, workspace } = scope
  const calendar = await findCalendar(db, workspace.id, actor.personId, event.calendar_id)
  if (!calendar) return 'none'
  const access = accessTo(calendar, actor)
  if (access === 'owner') return 'own'
  const isGuest = actor.personId !== null && event.guest_ids.includes(actor.personId)
  if (sightOf(event, { access, isGuest }) !== 'details') return 'none'
  return calendar.kind === 'personal' ? 'details' : 'team'
}
