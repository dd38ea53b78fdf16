import { createHash } from 'node:crypto'
import { findAttendees, noteMailed } from '#shared/calendar/attendees-store.ts'
import { findCalendar } from '#shared/calendar/calendars-store.ts'
import type { Attendee } from '#shared/calendar/event.ts'
import { findEvent } from '#shared/calendar/events-store.ts'
import { guestMail } from '#shared/calendar/guest-mail.ts'
import { tokenOf } from '#shared/calendar/guests.ts'
import type { guestMail as guestMailPayload } from '#shared/calendar/jobs.ts'
import { takeMailShare } from '#shared/calendar/mail-share.ts'
import { organizerOf } from '#shared/calendar/organizer.ts'
import type { TypeOf } from '#shared/kernel/schema.ts'
import { queueMail } from '#shared/mail/outbox.ts'
import { hasMail } from '#shared/mail/store.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

type Payload = TypeOf<typeof guestMailPayload>

/**
 * Puts the mails of a change into the outbox, each once however often this is done, and notes whom the day's share of mail left out. Whoever
 * is a guest no more is not asked to come.
 */
export async function mailGuests(scope: Scope, jobId: string, payload: Payload): Promise<void> {
  const { db, workspace } = scope
  const { event, exceptions, guests, method, news } = payload
  const calendar = await findCalendar(db, workspace.id, null, event.calendar_id)
  const ids = [event.id, ...exceptions.map(({ id }) => id)]
  const guestsOf = await findAttendees(db, workspace.id, ids)
  const present = new Map((guestsOf.get(event.id) ?? []).map((guest) => [guest.id, guest]))
  const series = event.series_id === null ? undefined : await findEvent(db, workspace.id, event.series_id)
  const organizer = await organizerOf(scope, event.created_by, calendar ?? { owner_id: null, name: workspace.name })
  const told = guests.filter(({ id }) => method === 'CANCEL' || present.has(id))
  await db.transaction(async (tx) => {
    const inside = within(scope, tx)
    // All mails of the job are written in one transaction: one of them says that an earlier attempt has written them.
    if (
      await hasMail(
        tx,
        told.map(({ id }) => mailId(jobId, id)),
      )
    )
      return
    const allowed = await takeMailShare(
      inside,
      told.map(({ email }) => email),
      news === 'booked' ? 'booking' : 'calendar',
    )
    for (const guest of told.filter((_, index) => allowed[index])) {
      const now = present.get(guest.id)
      const page = now && method === 'REQUEST' ? `${scope.config.publicUrl}/rsvp/${workspace.id}/${tokenOf(scope, now)}` : undefined
      const status: Attendee['status'] = now?.status ?? 'needs_action'
      await queueMail(
        inside,
        guestMail(scope.config, {
          ...payload,
          id: mailId(jobId, guest.id),
          series,
          guest,
          status,
          page,
          organizer,
          workspace,
          guestIn: ({ id }) => (guest.absent?.includes(id) ? undefined : { ...guest, status: statusIn(guestsOf.get(id), guest, status) }),
          now: payload.at === undefined ? scope.now() : new Date(payload.at),
        }),
      )
    }
    const idsOf = (isAllowed: boolean) => told.filter((_, index) => allowed[index] === isAllowed).map(({ id }) => id)
    await noteMailed(tx, workspace.id, event.id, idsOf(true), true)
    await noteMailed(tx, workspace.id, event.id, idsOf(false), false)
  })
}

/** What a guest has answered for an exception, else for its series. */
const statusIn = (guests: readonly Attendee[] = [], { email }: Pick<Attendee, 'email'>, status: Attendee['status']): Attendee['status'] =>
  guests.find((one) => one.email.toLowerCase() === email.toLowerCase())?.status ?? status

/** An id made of the job's and the guest's, in the form of a UUID: the same mail again has the same. */
function mailId(jobId: string, guestId: string): string {
  const hex = createHash('sha256').update(`${jobId} ${guestId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
