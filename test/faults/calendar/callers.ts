import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'
import type { Sender, Sent } from '#test/faults/load/sender.ts'
import { fromAnywhere } from '#test/support/account.ts'

/** Minutes before the start of a planned event at which it is announced. */
export const minutesBefore = 10

/** A booking that was confirmed to a visitor, with its last acknowledged answer. */
export interface Booked {
  readonly name: string
  readonly start: number
  readonly end: number
  status: 'accepted' | 'tentative' | 'declined'
}

/** An event that was confirmed to its organizer. */
export interface Planned {
  readonly title: string
  readonly guests: readonly string[]
  /** When it is announced. */
  readonly at: number
  cancelled: boolean
}

/** Requests of callers and the responses. */
export class Said {
  /** Names of all requested bookings. */
  readonly asked = new Set<string>()
  readonly booked: Booked[] = []
  readonly planned: Planned[] = []
  readonly plans = new Set<string>()
  refused = 0
}

export interface Callers {
  readonly sender: Sender
  readonly said: Said
  readonly isOver: () => boolean
  /** Aborts when begun requests need not be repeated any more. */
  readonly enough: AbortSignal
}

/** Bookings of a run, since a workspace may send 500 mails a day. */
const mostBookings = 400

/** The slots of all bookings: few enough that many are taken. */
const slots = 300
const slotMs = 15 * minuteMs

/** Books at random and repeats each request until it is answered; then keeps the booking, answers again or cancels. */
export async function bookAt({ sender, said, isOver, enough }: Callers, path: string): Promise<void> {
  const first = Math.ceil(Date.now() / 86_400_000) * 86_400_000
  const post = (place: string, body: object, headers: object = {}, mayBeRefused?: true) => {
    const request: Sent = { method: 'POST', path: place, body, headers: { ...fromAnywhere(), ...headers } }
    return sender.persistently(mayBeRefused ? { ...request, mayBeRefused } : request, enough)
  }
  while (!isOver() && !enough.aborted) {
    await delay(300)
    if (said.booked.length >= mostBookings) continue
    const name = `visitor-${randomUUID()}`
    const [start, duration] = [first + randomInt(slots) * slotMs, [15, 30, 60][randomInt(3)] ?? 15]
    const body = { start: new Date(start).toISOString(), duration, name, email: `${name}@example.com` }
    said.asked.add(name)
    const { status, data } = await post(path, body, { 'idempotency-key': name }, true)
    if (status === 409) said.refused += 1
    if (status !== 201) continue
    const booking: Booked = { name, start: Date.parse(data.start), end: Date.parse(data.end), status: 'accepted' }
    said.booked.push(booking)
    for (const answer of [[], ['tentative'], ['declined'], ['tentative', 'declined'], ['declined', 'accepted']][randomInt(5)] ?? []) {
      const answered = await post(path.replace(/\/book\/.*$/, `/rsvp/${data.token}`), { status: answer })
      if (answered.status === 200) booking.status = answered.data.status
    }
  }
}

/** Invites two guests to events that are announced within seconds, and cancels some of them before. */
export async function planAt({ sender, said, isOver, enough }: Callers, path: string, calendarId: string): Promise<void> {
  while (!isOver() && !enough.aborted) {
    await delay(500)
    const title = `plan-${randomUUID()}`
    const at = Date.now() + randomInt(2_000, 15_000)
    const guests = [`${title}-a@example.com`, `${title}-b@example.com`]
    const body = {
      title,
      calendar_id: calendarId,
      start: new Date(at + minutesBefore * minuteMs).toISOString(),
      reminders: [minutesBefore],
      attendees: guests.map((email) => ({ email })),
    }
    said.plans.add(title)
    const headers = { 'idempotency-key': title }
    const { status, data } = await sender.persistently({ method: 'POST', path: `${path}/events`, body, headers }, enough)
    if (status !== 201) continue
    const planned: Planned = { title, guests, at, cancelled: false }
    said.planned.push(planned)
    if (randomInt(3) > 0) continue
    const off = await sender.persistently({ method: 'PATCH', path: `${path}/events/${data.id}`, body: { status: 'cancelled' } }, enough)
    planned.cancelled = off.status === 200
  }
}
