import { unsubscribeHeaders } from '#shared/messages/unsubscribe.ts'
import { admitVisitors, makeForm, sendPage } from '#test/forms/making.ts'
import { connect, makeLink } from '#test/payments/place.ts'
import { createAccount, fromAnywhere, resetToken } from '#test/support/account.ts'
import { thingsOf } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

/** A page as somebody comes to see it. */
export interface ShownPage {
  readonly name: string
  /** Its address, once all is there that it needs. */
  readonly address: (w: World) => Promise<string>
  /** What of it is sent, where the page is the answer to that. */
  readonly sent?: Readonly<Record<string, string>>
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

/** A form with a field of each kind, of a workspace with a colour that needs mending. */
export async function everyField(w: World): Promise<string> {
  await w.org.owner.patch(w.org.path, { name: 'Bäckerei Ährenkranz & Töchter', color: '#ffd54a' })
  await admitVisitors(w)
  const settings = { submit_label: 'Order the cake', success_message: 'Thank you.\nWe will write to you.' }
  return (
    await makeForm(w, { name: 'Order a cake', description: 'We bake on weekdays.\nPlease order two days ahead.', fields: every, settings })
  ).hosted
}

/** The sandbox's page of a link, of a description that wraps. */
async function payPage(w: World): Promise<string> {
  const description = 'Two chairs and a table, delivered to the third floor of a house without a lift'
  const { id } = await makeLink(w.org, await connect(w.org, 'sandbox'), { amount: '1234.5', description })
  return `/pay/${w.org.id}/${id}`
}

/** Where a message of the workspace lets its recipient unsubscribe. */
async function unsubscribeLink(w: World): Promise<string> {
  const headers = unsubscribeHeaders(w.config, w.org.id, await thingsOf(w, w.org, 'x', keys).message())
  return /\/unsubscribe\/[\w-]+/.exec(headers['List-Unsubscribe'] ?? '')?.[0] ?? ''
}

/** Every page there is, and what they say when something is wrong. A page that is new goes here. */
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
  { name: 'a pay page', address: payPage },
  { name: 'a link that was paid', address: payPage, sent: { action: 'pay' } },
  { name: 'unsubscribing', address: unsubscribeLink },
  { name: 'unsubscribed', address: unsubscribeLink, sent: {} },
  {
    name: 'a payment',
    address: async (w) => {
      const { short_url } = await makeLink(w.org, await connect(w.org, 'sandbox'), { description: 'Two cakes', customer_name: 'Ann' })
      return new URL(short_url).pathname
    },
  },
  { name: 'the reference', address: async () => '/docs' },
]

/** Where requests of this name come from: the limits of one touch no other. */
export const originOf = ({ name }: ShownPage): Record<string, string> =>
  name === 'too many tries' ? { 'x-forwarded-for': '192.0.2.1' } : fromAnywhere()
