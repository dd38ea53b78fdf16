import { type Attendee, type EventRow, eventTimeOf } from '#shared/features/calendar/events/event.ts'
import { organizerInFiles } from '#shared/features/calendar/guests/organizer.ts'
import { type NamedGuest, withExceptions } from '#shared/features/calendar/ics/with-exceptions.ts'
import type { EventForFile } from '#shared/features/calendar/ics/write-event.ts'
import { writeIcs } from '#shared/features/calendar/ics/write-file.ts'
import { eventTimeInWords, ruleInWords } from '#shared/features/calendar/time-in-words.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Mail } from '#shared/platform/mail/mail.ts'

/** Input of a mail to a guest. */
export interface GuestMail {
  readonly id: string
  readonly method: 'REQUEST' | 'CANCEL'
  readonly news: 'invited' | 'changed' | 'cancelled' | 'booked'
  readonly event: EventRow
  readonly series: EventRow | undefined
  readonly exceptions: readonly EventRow[]
  /** The guest with its answer to an exception; undefined if the exception does not take place for the guest. */
  readonly guestIn: (exception: EventRow) => NamedGuest | undefined
  readonly guest: Pick<Attendee, 'email' | 'name'>
  /** The guest's current answer. */
  readonly status: Attendee['status']
  /** URL of the guest's invitation page; undefined for a cancellation. */
  readonly page: string | undefined
  readonly organizer: { readonly name: string; readonly email: string | null }
  readonly workspace: { readonly id: string; readonly name: string }
  /** When the change was made. */
  readonly now: Date
}

const subjects = { invited: 'Invitation', changed: 'Changed', cancelled: 'Cancelled', booked: 'Booked' } as const

/** Composes an invitation or cancellation mail: text, and an iCalendar part (RFC 6047). */
export function composeGuestMail(config: Pick<Config, 'mailFrom'>, mail: GuestMail): Mail {
  const { event, guest, organizer, workspace, news } = mail
  return {
    id: mail.id,
    workspaceId: workspace.id,
    kind: news === 'booked' ? 'booking' : 'calendar',
    to: guest.email,
    subject: `${subjects[news]}: ${event.title}`,
    text: textOf(mail),
    ...(organizer.email === null ? {} : { headers: { 'Reply-To': organizer.email } }),
    calendar: { method: mail.method, content: writeIcs({ method: mail.method, events: eventsOf(config, mail), now: mail.now }) },
  }
}

function eventsOf(config: Pick<Config, 'mailFrom'>, mail: GuestMail): EventForFile[] {
  const { event, series, exceptions, guest, guestIn, status, organizer, method } = mail
  const shared = { access: 'details' as const, organizer: organizerInFiles(config, organizer), attendees: [{ ...guest, status }] }
  if (method === 'CANCEL') return [{ event: { ...event, status: 'cancelled' }, series, ...shared }]
  return withExceptions({ event, series, ...shared }, exceptions, guestIn)
}

const openings = {
  invited: (who: string) => `${who} invites you to this event.`,
  changed: (who: string) => `${who} has changed this event.`,
  cancelled: (who: string) => `${who} has cancelled this event.`,
  booked: (who: string) => `Your booking with ${who} is confirmed.`,
} as const

function textOf({ event, guest, organizer, news, page, workspace }: GuestMail): string {
  const repeats = ruleInWords(event.recurrence)
  const lines = [
    guest.name === '' ? 'Hello,' : `Hello ${oneLine(guest.name)},`,
    '',
    openings[news](oneLine(organizer.name || workspace.name)),
    '',
    `  ${oneLine(event.title)}`,
    `  ${eventTimeInWords(eventTimeOf(event))}`,
    ...(repeats === '' ? [] : [`  Repeats ${repeats}`]),
    ...(event.location === '' ? [] : [`  ${oneLine(event.location)}`]),
    ...(event.description === '' || news === 'cancelled' ? [] : ['', event.description]),
    ...(page === undefined ? [] : ['', news === 'booked' ? 'To see or cancel your booking, open' : 'To answer, open', page]),
    '',
  ]
  return lines.join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
