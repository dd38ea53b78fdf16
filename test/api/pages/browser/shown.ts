import { randomUUID } from 'node:crypto'
import { unsubscribeHeaders } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import { admitVisitors, makeForm, sendPage } from '#test/features/forms/making.ts'
import { connect, makeLink } from '#test/features/payments/place.ts'
import { createAccount, fromAnywhere, resetToken } from '#test/support/account.ts'
import { made } from '#test/support/made.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { thingsOf } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

/** A page as a person opens it. */
export interface ShownPage {
  readonly name: string
  /** Its address, after everything that it needs was created. */
  readonly address: (w: World) => Promise<string>
  /** The fields that its form sends, if the page is the response to that, and the button if the form has several. */
  readonly sent?: Readonly<Record<string, string>>
  readonly button?: string
}

const keys = { type: 'none', name: 'none', email: 'none', number: 'none', status: 'none', ref: 'none', refs: 'none' }

const every = [
  { key: 'name', label: 'Your name', type: 'string', required: true },
  {
    key: 'email',
    label: 'Your address for our answer, which may be long and have a word-that-does-not-want-to-break',
    type: 'email',
    required: true,
  },
  { key: 'price', label: 'What may it cost?', type: 'currency' },
  { key: 'day', label: 'Which day?', type: 'date' },
  { key: 'time', label: 'When?', type: 'datetime' },
  { key: 'size', label: 'Size', type: 'select', options: ['Small', 'Large'], required: true },
  { key: 'extras', label: 'Extras', type: 'multiselect', options: ['Nuts', 'Cream', 'Sprinkles'] },
  { key: 'page', label: 'Your website', type: 'url' },
  { key: 'note', label: 'Anything else?', type: 'text' },
  { key: 'agreed', label: 'I have read the terms', type: 'bool', required: true },
]

/** A form with a field of each type, in a workspace whose colour must be adjusted. */
export async function everyField(w: World): Promise<string> {
  await w.org.owner.patch(w.org.path, { name: 'Bäckerei Ährenkranz & Töchter', color: '#ffd54a' })
  await admitVisitors(w)
  const settings = { submit_label: 'Order the cake', success_message: 'Thank you.\nWe will write to you.' }
  return (
    await makeForm(w, {
      name: 'Order a cake',
      description: 'We bake on **weekdays**.\nPlease order two days ahead.\n\n- [Our cakes](https://example.com/cakes)\n- Nuts on request',
      fields: every,
      settings,
    })
  ).hosted
}

/** The sandbox's page of a link with a description that wraps. */
async function payPage(w: World): Promise<string> {
  const description = 'Two chairs and a table, delivered to the third floor of a house without a lift'
  const { id } = await makeLink(w.org, await connect(w.org, 'sandbox'), { amount: '1234.5', description })
  return `/pay/${w.org.id}/${id}`
}

/** The page to unsubscribe from messages of the workspace. */
async function unsubscribeLink(w: World): Promise<string> {
  const headers = unsubscribeHeaders(w.config, w.org.id, await thingsOf(w, w.org, 'x', keys).message())
  return /\/unsubscribe\/[\w-]+/.exec(headers['List-Unsubscribe'] ?? '')?.[0] ?? ''
}

/** A day on which every booking page has free times, three days ahead. */
const bookedDay = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
const bookedTime = `${bookedDay}T10:30:00.000000Z`
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** A booking page of a workspace with its own colour. */
async function openBooking(w: World, more: object = {}): Promise<string> {
  await w.org.owner.patch(w.org.path, { name: 'Praxis Dr. Öztürk', color: '#0b7a55' })
  const booking = {
    enabled: true,
    title: 'A first talk',
    description: 'We get to know each other.\nBring your questions.',
    min_notice: 0,
    durations: [30, 60],
    location: '12 Harbour Street, second floor',
    horizon_days: 30,
    hours: Object.fromEntries(days.map((day) => [day, [['09:00', '12:00']]])),
    ...more,
  }
  const key = `talk-${randomUUID().slice(0, 8)}`
  await made(w.org.owner.post(`${w.org.path}/calendar/calendars`, { key, kind: 'org', name: 'Talks', settings: { booking } }))
  return key
}

export const bookPage = async (w: World): Promise<string> => `/book/${w.org.id}/${await openBooking(w)}`
const booker = { name: 'Ann Meier', email: 'ann@example.com' }

/** A booking page of a workspace with a logo. */
async function bookPageWithLogo(w: World): Promise<string> {
  await thingsOf(w, w.org, 'x', keys).logo()
  return bookPage(w)
}

/** Times around the clock, every quarter of an hour. */
const wholeDays = { slot_step: 15, hours: Object.fromEntries(days.map((day) => [day, [['00:00', '24:00']]])) }

/** The step that asks for name and email. */
const detailsPage = async (w: World): Promise<string> => `${await bookPage(w)}?start=${bookedTime}`

/** The page of a booking for the person who booked. */
export async function bookersPage(w: World): Promise<string> {
  const key = await openBooking(w)
  const path = `/cal/${w.org.id}/book/${key}`
  const booked = await made(w.visitor.post(path, { start: bookedTime, ...booker }, fromAnywhere()))
  return `/rsvp/${w.org.id}/${(booked as unknown as { token: string }).token}`
}

/** The page of a guest of a meeting, as a mail links to it. */
export async function guestsPage(w: World): Promise<string> {
  const email = `guest-${randomUUID().slice(0, 8)}@example.com`
  const { id } = await made(
    w.org.owner.post(`${w.org.path}/calendar/calendars`, { key: `c-${randomUUID().slice(0, 8)}`, kind: 'org', name: 'Board' }),
  )
  const about = { title: 'Quarterly review', description: 'Please read the figures before.', location: 'Room 4', timezone: 'Europe/Berlin' }
  const event = { calendar_id: id, ...about, start: bookedTime, attendees: [{ email, name: 'Guest' }] }
  await made(w.org.owner.post(`${w.org.path}/calendar/events`, event))
  await w.drain()
  const [mail] = await mailsTo(w, email)
  return /\/rsvp\/[\w-]+\/[\w-]+/.exec(mail?.text ?? '')?.[0] ?? ''
}

/** Every page, and its messages for errors. Add new pages here. */
export const shownPages: readonly ShownPage[] = [
  { name: 'the start', address: async () => '/' },
  { name: 'a page that is not there', address: async (w) => `/f/${w.org.id}/nothing` },
  { name: 'a new password', address: async (w) => `/reset?token=${await resetToken(w, (await createAccount(w)).id)}` },
  {
    name: 'a new password that is too short',
    address: async (w) => `/reset?token=${await resetToken(w, (await createAccount(w)).id)}`,
    sent: { password: 'short' },
  },
  { name: 'an invitation', address: async (w) => `/accept-invite?token=${await thingsOf(w, w.org, 'x', keys).token()}` },
  {
    name: 'an invitation accepted',
    address: async (w) => `/accept-invite?token=${await thingsOf(w, w.org, 'x', keys).token()}`,
    sent: { name: 'Ivy', password: 'a long password' },
  },
  { name: 'a form', address: everyField },
  { name: 'a form with errors', address: everyField, sent: { email: 'nobody', price: 'much' } },
  {
    name: 'a form that was sent',
    address: everyField,
    sent: { name: 'Ann', email: 'ann@example.com', size: 'Small', agreed: 'true' },
  },
  {
    name: 'too many tries',
    address: async (w) => {
      const address = await everyField(w)
      for (let count = 0; count < 30; count++) await sendPage(w, address, {}, { 'x-forwarded-for': '192.0.2.1' })
      return address
    },
    sent: {},
  },
  { name: 'booking', address: bookPage },
  { name: 'booking with a logo', address: bookPageWithLogo },
  { name: 'booking, a day', address: async (w) => `${await bookPage(w)}?day=${bookedDay}` },
  { name: 'booking, a long day', address: async (w) => `/book/${w.org.id}/${await openBooking(w, wholeDays)}?day=${bookedDay}` },
  { name: 'booking, the details', address: detailsPage },
  { name: 'booking in another zone', address: async (w) => `${await bookPage(w)}?tz=Asia/Kolkata&duration=60&day=${bookedDay}` },
  { name: 'booking with errors', address: detailsPage, sent: { ...booker, email: 'nobody' } },
  { name: 'booking a time that cannot be had', address: detailsPage, sent: { start: `${bookedDay}T10:15:00Z`, ...booker } },
  { name: 'booking a time that was free', address: async (w) => `${await bookPage(w)}?start=${bookedDay}T10:15:00Z` },
  { name: 'no free time', address: async (w) => `/book/${w.org.id}/${await openBooking(w, { hours: {} })}` },
  { name: 'booked', address: detailsPage, sent: booker },
  { name: 'a booking', address: bookersPage },
  { name: 'a booking cancelled', address: bookersPage, sent: { status: 'declined' } },
  { name: 'a meeting', address: guestsPage },
  { name: 'a meeting without an answer', address: guestsPage, sent: {} },
  { name: 'a meeting answered', address: guestsPage, sent: { status: 'tentative' } },
  { name: 'a pay page', address: payPage },
  { name: 'a payment declined', address: payPage, sent: {}, button: 'decline' },
  { name: 'a payment with an error', address: payPage, sent: { email: 'nobody' }, button: 'pay' },
  { name: 'a link that was paid', address: payPage, sent: {}, button: 'pay' },
  { name: 'unsubscribing', address: unsubscribeLink },
  { name: 'unsubscribed', address: unsubscribeLink, sent: {} },
  { name: 'the guide', address: async () => '/docs' },
  { name: 'a page of the guide', address: async () => '/docs/queues' },
  { name: 'a page of the guide with wide tables', address: async () => '/docs/functions' },
  { name: 'a search of the guide', address: async () => '/docs/search?q=claim' },
  { name: 'a search of the guide without a hit', address: async () => '/docs/search?q=zyzzyva' },
  { name: 'the reference', address: async () => '/docs/reference' },
]

/** A network address for requests of this page, so that its limits do not affect others. */
export const originOf = ({ name }: ShownPage): Record<string, string> =>
  name === 'too many tries' ? { 'x-forwarded-for': '192.0.2.1' } : fromAnywhere()
