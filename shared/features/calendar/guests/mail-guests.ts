import { createHash } from 'node:crypto'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { findCalendar } from '#shared/features/calendar/calendars/store.ts'
import type { Attendee } from '#shared/features/calendar/events/event.ts'
import { findEvent } from '#shared/features/calendar/events/store.ts'
import { composeGuestMail } from '#shared/features/calendar/guests/compose-guest-mail.ts'
import { guestTokenOf } from '#shared/features/calendar/guests/guests.ts'
import { takeMailQuota } from '#shared/features/calendar/guests/mail-quota.ts'
import { organizerOf } from '#shared/features/calendar/guests/organizer.ts'
import { findAttendees, markMailed } from '#shared/features/calendar/guests/store.ts'
import type { guestMailPayload } from '#shared/features/calendar/jobs.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { hasMail } from '#shared/platform/mail/store.ts'

type Payload = TypeOf<typeof guestMailPayload>

/**
 * Puts the mails of a change into the outbox, once per job even if the job is repeated, and marks guests whom the daily mail quota left out
 * as not mailed. An invitation to a person who is no longer a guest is skipped.
 */
export async function queueGuestMails(scope: Scope, jobId: string, payload: Payload): Promise<void> {
  const { db, workspace } = scope
  const { event, exceptions, guests, method, news } = payload
  const calendar = await findCalendar(db, workspace.id, null, event.calendar_id)
  const ids = [event.id, ...exceptions.map(({ id }) => id)]
  const guestsOf = await findAttendees(db, workspace.id, ids)
  const current = new Map((guestsOf.get(event.id) ?? []).map((guest) => [guest.id, guest]))
  const series = event.series_id === null ? undefined : await findEvent(db, workspace.id, event.series_id)
  const organizer = await organizerOf(scope, event.created_by, calendar ?? { owner_id: null, name: workspace.name })
  const recipients = guests.filter(({ id }) => method === 'CANCEL' || current.has(id))
  await db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    // All mails of a job are written in one transaction: if one exists, an earlier attempt has written all.
    if (
      await hasMail(
        tx,
        recipients.map(({ id }) => mailId(jobId, id)),
      )
    )
      return
    const allowed = await takeMailQuota(
      txScope,
      recipients.map(({ email }) => email),
      news === 'booked' ? 'booking' : 'calendar',
    )
    for (const guest of recipients.filter((_, index) => allowed[index])) {
      const attendee = current.get(guest.id)
      const page =
        attendee && method === 'REQUEST' ? `${scope.config.publicUrl}/rsvp/${workspace.id}/${guestTokenOf(scope, attendee)}` : undefined
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
