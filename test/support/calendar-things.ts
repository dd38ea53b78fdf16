import { randomBytes } from 'node:crypto'
import { newId } from '#shared/platform/kernel/ids.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { made } from '#test/support/made.ts'
import type { World } from '#test/support/world.ts'

/** How things of a workspace are named, and created by its owner. */
interface Maker {
  readonly name: () => string
  readonly secret: string
  readonly post: (at: string, body: object) => Promise<{ readonly id: string }>
}

/** The page of a workspace by which `calendarInvitation` books, and its number of bookings: a workspace has at most 200 calendars. */
const pages = new Map<string, { readonly key: Promise<string>; booked: number }>()

/** Things of calendars (test/support/things.ts). */
export function calendarThings(world: World, org: Org, { name, secret, post }: Maker) {
  const { db } = world
  const { id: orgId, path, owner } = org
  return {
    calendar: async () => {
      const { id, key } = (await post('/calendar/calendars', { kind: 'org', key: name(), name: secret })) as unknown as {
        id: string
        key: string
      }
      return { id, key }
    },
    bookingPage: async () => {
      const hours = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]))
      const settings = { booking: { enabled: true, hours, horizon_days: 30 } }
      const body = { kind: 'org', key: name(), name: secret, settings }
      return ((await post('/calendar/calendars', body)) as unknown as { key: string }).key
    },
    /** A time that every booking page of `bookingPage` has: the start of a day, some days ahead. */
    bookingTime: () => new Date((Math.ceil(Date.now() / 86_400_000) + 3) * 86_400_000).toISOString(),
    calendarFeed: async () => {
      const { id } = await post('/calendar/calendars', { kind: 'org', key: name(), name: 'Open' })
      const { data } = await owner.post(`${path}/calendar/calendars/${id}/feed`, { enabled: true })
      return (data.feed_url as string).split('/').at(-1) ?? ''
    },
    calendarInvitation: async () => {
      const makePage = async () => {
        const key = `c_${randomBytes(4).toString('hex')}`
        const hours = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]))
        await post('/calendar/calendars', { kind: 'org', key, name: 'Open', settings: { booking: { enabled: true, hours } } })
        return key
      }
      const page = pages.get(orgId) ?? { key: makePage(), booked: 0 }
      pages.set(orgId, page)
      const key = await page.key
      const start = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 2 * 86_400_000 + page.booked++ * 3_600_000).toISOString()
      const body = { start, name: 'Guest', email: 'guest@example.com' }
      return ((await made(world.visitor.post(`/cal/${orgId}/book/${key}`, body, fromAnywhere()))) as unknown as { token: string }).token
    },
    calendarEvent: async (calendarId: string, more: object = {}) =>
      (await post('/calendar/events', { calendar_id: calendarId, title: secret, start: '2026-12-01T09:00:00Z', notify: false, ...more }))
        .id,
    calendarShare: async (calendarId: string) => {
      const { rows } = await db.query(
        `insert into calendar_shares (workspace_id, calendar_id, id, user_id, level) values ($1, $2, $3, $4, 'read') returning id`,
        [orgId, calendarId, newId(), (await createMember(world, org)).id],
      )
      return rows[0].id as string
    },
    /** A calendar of records of its own type, with one record. */
    recordsCalendar: async () => {
      const type = ((await post('/types', { key: name(), label: secret })) as unknown as { key: string }).key
      await post('/fields', { entity_type: type, key: 'due', label: 'Due', type: 'date' })
      const source = { type_key: type, start_field: 'due' }
      const body = { kind: 'records', key: name(), name: secret, settings: { source } }
      const { id, key } = (await post('/calendar/calendars', body)) as unknown as { id: string; key: string }
      return { id, key, type, field: 'due', record: (await post(`/records/${type}`, { values: { due: '2026-12-01' } })).id }
    },
  }
}
