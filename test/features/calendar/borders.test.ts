import test from 'ava'
import { receivedMails } from '#test/features/calendar/received-mails.ts'
import { setWorkspaceMails } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-03-02T08:00:00Z' })

const hours = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['09:00', '17:00']]]))
const second = 1_000

/** A start that is asked for at an instant, and how it is answered: the last instant at which it may be, and the first at which not. */
const bookings: readonly (readonly [name: string, start: string, now: string, status: number])[] = [
  ['notice', '2026-03-03T10:00:00Z', '2026-03-03T09:00:00Z', 201],
  ['notice, a second late', '2026-03-03T11:00:00Z', '2026-03-03T10:00:01Z', 400],
  ['horizon', '2026-03-04T12:00:00Z', '2026-03-02T12:00:00Z', 201],
  ['horizon, a second early', '2026-03-04T13:00:00Z', '2026-03-02T12:59:59Z', 400],
  ['the last start of the hours', '2026-03-05T16:30:00Z', '2026-03-04T09:00:00Z', 201],
  ['hours that end before the booking does', '2026-03-05T16:45:00Z', '2026-03-04T09:00:00Z', 400],
  ['just the buffer behind an event', '2026-03-06T10:15:00Z', '2026-03-05T09:00:00Z', 201],
  ['a second less than the buffer behind an event', '2026-03-06T13:15:00Z', '2026-03-05T09:00:00Z', 409],
  ['just the buffer before an event', '2026-03-06T14:45:00Z', '2026-03-05T09:00:00Z', 201],
  ['a second less than the buffer before an event', '2026-03-06T11:30:00Z', '2026-03-05T09:00:00Z', 409],
]

test('borders: a time can be booked up to the second of its notice', async (t) => {
  let now = new Date('2026-03-02T08:00:00Z')
  const w = await world({ TRUST_PROXY: '1' }, undefined, () => now)
  t.teardown(w.close)
  const booking = { enabled: true, durations: [30], slot_step: 15, buffer: 15, min_notice: 60, horizon_days: 2, hours }
  const { key, id } = await makeCalendar(t, w, { timezone: 'UTC', settings: { booking } })
  const taken = [
    ['2026-03-06T09:30:00Z', '2026-03-06T10:00:00Z'],
    ['2026-03-06T12:14:59Z', '2026-03-06T13:00:01Z'],
    ['2026-03-06T15:30:00Z', '2026-03-06T16:00:00Z'],
  ]
  for (const [start, end] of taken) await makeEvent(t, w, { calendar_id: id, start, end })
  for (const [name, start, instant, status] of bookings) {
    now = new Date(instant)
    const body = { start, name: 'Vera', email: 'vera@example.com' }
    t.is((await w.visitor.post(`/cal/${w.org.id}/book/${key}`, body, fromAnywhere())).status, status, name)
  }
})

test('borders: the link of an invitation is valid until 30 days after the event or the last occurrence', async (t) => {
  let now = new Date('2026-11-25T08:00:00Z')
  const w = await world({ TRUST_PROXY: '1' }, undefined, () => now)
  t.teardown(w.close)
  const invited = async (email: string, more: object) => {
    await makeEvent(t, w, { attendees: [{ email }], end: '2026-12-01T10:00:00Z', ...more })
    const [mail] = await receivedMails(w, email)
    return `/cal${(/\/rsvp\/\S+/.exec(mail?.text ?? '')?.[0] ?? '').replace(/^\/rsvp\/([^/]+)\//, '/$1/rsvp/')}`
  }
  const single = await invited('one@example.com', {})
  const series = await invited('many@example.com', { recurrence: 'FREQ=WEEKLY;COUNT=3' })
  const status = async (path: string, ms: number) => {
    now = new Date(ms)
    return (await w.visitor.get(path, fromAnywhere())).status
  }
  const [end, last] = [Date.parse('2026-12-31T10:00:00Z'), Date.parse('2027-01-14T10:00:00Z')]
  t.deepEqual([await status(single, end), await status(single, end + second)], [200, 404])
  t.deepEqual([await status(series, end + second), await status(series, last), await status(series, last + second)], [200, 200, 404])
})

test('borders: an address gets ten booking mails a day and a workspace sends 500; further bookings are kept without a mail', async (t) => {
  const w = await shared()
  const { key, id } = await makeCalendar(t, w, { timezone: 'UTC', settings: { booking: { enabled: true, hours, durations: [15] } } })
  const start = (count: number) => new Date(Date.parse('2026-03-03T09:00:00Z') + count * 900_000).toISOString()
  const book = async (count: number, email: string) => {
    const { status, text } = await w.visitor.post(`/cal/${w.org.id}/book/${key}`, { start: start(count), name: 'V', email }, fromAnywhere())
    t.is(status, 201, text)
  }
  for (let count = 0; count < 12; count++) await book(count, count % 2 ? 'Victim@example.com' : 'victim@example.com')
  await book(12, 'other@example.com')
  await w.drain()
  t.is((await mailsTo(w, 'victim@example.com')).length, 10)
  t.is((await mailsTo(w, 'other@example.com')).length, 1)
  await setWorkspaceMails(w.db, w.org.id, 500)
  await book(13, 'late@example.com')
  await w.drain()
  t.is((await mailsTo(w, 'late@example.com')).length, 0)
  const { data } = await w.org.owner.get(at(w, `/events?from=2026-03-03&to=2026-03-03&calendars=${id}`))
  t.is(data.events.length, 14)
})

test('borders: an address may request public calendars 60 times a minute', async (t) => {
  const w = await shared()
  const { key } = await makeCalendar(t, w, { settings: { booking: { enabled: true } } })
  const place = `/cal/${w.org.id}/book/${key}`
  const paths = [place, `${place}/slots?from=2026-12-01&to=2026-12-01`, `/book/${w.org.id}/${key}`]
  const address = fromAnywhere()
  const statuses: number[] = []
  for (let count = 0; count < 61; count++) statuses.push((await w.visitor.get(paths[count % 3] ?? place, address)).status)
  t.deepEqual(
    statuses.filter((status) => status !== 200),
    [429],
  )
  t.is(statuses.at(-1), 429)
})
