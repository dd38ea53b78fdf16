import { createHash } from 'node:crypto'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { findCalendar } from '#shared/features/calendar/calendars/store.ts'
import { eventTimeOf } from '#shared/features/calendar/events/event.ts'
import { type EventRow, findEvent } from '#shared/features/calendar/events/store.ts'
import { guestTokenOf, rsvpPageUrl } from '#shared/features/calendar/guests/guests.ts'
import { takeMailQuota } from '#shared/features/calendar/guests/mail-quota.ts'
import { organizerInFiles, organizerOf } from '#shared/features/calendar/guests/organizer.ts'
import { type Attendee, findAttendees, markMailed } from '#shared/features/calendar/guests/store.ts'
import { type EventForFile, type NamedGuest, withExceptions } from '#shared/features/calendar/ics/write-event.ts'
import { writeIcs } from '#shared/features/calendar/ics/write-file.ts'
import type { guestMailPayload } from '#shared/features/calendar/jobs.ts'
import { eventTimeInWords, ruleInWords } from '#shared/features/calendar/time-in-words.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'
import type { Mail } from '#shared/platform/mail/mail.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { findAnyMail } from '#shared/platform/mail/store.ts'

type Payload = TypeOf<typeof guestMailPayload>

/**
 * Puts the mails of a change into the outbox, once per job even if the job is repeated, and marks guests whom the daily mail quota left out
 * as not mailed. An invitation to a person who is no longer a guest is skipped.
 */
export async function queueGuestMails(scope: Scope, jobId: string, payload: Payload): Promise<void> {
  const { db, workspace } = scope
  const { event, exceptions, guests, method, reason } = payload
  const calendar = await firstRow(db, findCalendar({ workspaceId: workspace.id, userId: null, id: event.calendar_id }))
  const ids = [event.id, ...exceptions.map(({ id }) => id)]
  const guestsOf = await findAttendees(db, workspace.id, ids)
  const current = new Map((guestsOf.get(event.id) ?? []).map((guest) => [guest.id, guest]))
  const series = event.series_id === null ? undefined : await firstRow(db, findEvent({ workspaceId: workspace.id, id: event.series_id }))
  const organizer = await organizerOf(scope, event.created_by, calendar ?? { owner_id: null, name: workspace.name })
  const recipients = guests.filter(({ id }) => method === 'CANCEL' || current.has(id))
  await db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    // All mails of a job are written in one transaction: if one exists, an earlier attempt has written all.
    if (await firstRow(tx, findAnyMail({ ids: recipients.map(({ id }) => mailId(jobId, id)) }))) return
    const allowed = await takeMailQuota(
      txScope,
      recipients.map(({ email }) => email),
      reason === 'booked' ? 'booking' : 'calendar',
    )
    for (const guest of recipients.filter((_, index) => allowed[index])) {
      const attendee = current.get(guest.id)
      const page = attendee && method === 'REQUEST' ? rsvpPageUrl(scope, guestTokenOf(scope, attendee)) : undefined
      const status: Attendee['status'] = attendee?.status ?? 'needs_action'
      await queueMail(
        txScope,
        composeGuestMail(scope.config, {
          ...payload,
          id: mailId(jobId, guest.id),
          series,
          guest,
          status,
          page,
          isOwnCancellation: method === 'CANCEL' && attendee?.is_booker === true && attendee.status === 'declined',
          organizer,
          workspace,
          guestIn: ({ id }) => (guest.absent?.includes(id) ? undefined : { ...guest, status: answerTo(guestsOf.get(id), guest, status) }),
          now: payload.at === undefined ? scope.now() : new Date(payload.at),
        }),
      )
    }
    const idsOf = (isAllowed: boolean) => recipients.filter((_, index) => allowed[index] === isAllowed).map(({ id }) => id)
    await markMailed(tx, workspace.id, event.id, idsOf(true), true)
    await markMailed(tx, workspace.id, event.id, idsOf(false), false)
  })
}

/** The guest's answer to an exception, or else to its series. */
const answerTo = (guests: readonly Attendee[] = [], { email }: Pick<Attendee, 'email'>, status: Attendee['status']): Attendee['status'] =>
  guests.find((one) => one.email.toLowerCase() === email.toLowerCase())?.status ?? status

/** A UUID derived from the ids of job and guest, so that a repeated job produces the same mail id. */
function mailId(jobId: string, guestId: string): string {
  const hex = createHash('sha256').update(`${jobId} ${guestId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Input of a mail to a guest. */
interface GuestMail {
  readonly id: string
  readonly method: 'REQUEST' | 'CANCEL'
  readonly reason: 'invited' | 'changed' | 'cancelled' | 'booked'
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
  /** Whether the guest is the booker and has cancelled the booking by declining. */
  readonly isOwnCancellation: boolean
  readonly organizer: { readonly name: string; readonly email: string | null }
  readonly workspace: { readonly id: string; readonly name: string }
  /** When the change was made. */
  readonly now: Date
}

const subjects = { invited: 'Invitation', changed: 'Changed', cancelled: 'Cancelled', booked: 'Booked' } as const

/** Composes an invitation or cancellation mail: text, and an iCalendar part (RFC 6047). */
function composeGuestMail(config: Pick<Config, 'mailFrom'>, mail: GuestMail): Mail {
  const { event, guest, organizer, workspace, reason } = mail
  return {
    id: mail.id,
    workspaceId: workspace.id,
    kind: reason === 'booked' ? 'booking' : 'calendar',
    to: guest.email,
    subject: `${subjects[reason]}: ${event.title}`,
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
  ownCancellation: (who: string) => `You have cancelled your booking with ${who}.`,
} as const

function textOf({ event, guest, organizer, reason, page, isOwnCancellation, workspace }: GuestMail): string {
  const repeats = ruleInWords(event.recurrence)
  const lines = [
    guest.name === '' ? 'Hello,' : `Hello ${oneLine(guest.name)},`,
    '',
    openings[isOwnCancellation ? 'ownCancellation' : reason](oneLine(organizer.name || workspace.name)),
    '',
    `  ${oneLine(event.title)}`,
    `  ${eventTimeInWords(eventTimeOf(event))}`,
    ...(repeats === '' ? [] : [`  Repeats ${repeats}`]),
    ...(event.location === '' ? [] : [`  ${oneLine(event.location)}`]),
    ...(event.description === '' || reason === 'cancelled' ? [] : ['', event.description]),
    ...(page === undefined ? [] : ['', reason === 'booked' ? 'To see or cancel your booking, open' : 'To answer, open', page]),
    '',
  ]
  return lines.join('\n')
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
