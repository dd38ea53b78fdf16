import test, { type ExecutionContext } from 'ava'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { createMember } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-03-02T08:00:00Z' })

const now = () => new Date('2026-03-02T08:00:00Z')
const open = (booking: object = {}, more: object = {}) => ({ settings: { booking: { enabled: true, min_notice: 0, ...booking }, ...more } })

async function page(t: ExecutionContext, w: World, booking: object = {}, more: object = {}) {
  const calendar = await makeCalendar(t, w, { ...open(booking), ...more })
  const path = `/cal/${w.org.id}/book/${calendar.key}`
  const slots = async (query: string) => (await w.visitor.get(`${path}/slots?${query}`)).data.slots.map((slot: string) => slot.slice(0, 16))
  const book = (start: string, body: object = {}, headers = {}) =>
    w.visitor.post(path, { start, name: 'Vera', email: 'vera@example.com', ...body }, headers)
  return { calendar, path, slots, book }
}

test('booking: a visitor opens a page, books a time, gets a confirmation by mail, and declines', async (t) => {
  const w = await world({ TRUST_PROXY: '1' }, undefined, now)
  t.teardown(w.close)
  const { path, slots, book, calendar } = await page(t, w, { durations: [60], title: 'Advice' }, { timezone: 'Europe/Berlin' })
  t.like((await w.visitor.get(path)).data, {
    title: 'Advice',
    durations: [60],
    timezone: 'Europe/Berlin',
    org_name: 'Acme',
    horizon_days: 60,
  })
  t.deepEqual((await slots('from=2026-03-03&to=2026-03-03')).length, 8)
  const { status, data } = await book('2026-03-03T08:00:00Z')
  t.is(status, 201)
  t.like(data, { ok: true, start: '2026-03-03T08:00:00.000000Z', end: '2026-03-03T09:00:00.000000Z' })
  t.deepEqual((await slots('from=2026-03-03&to=2026-03-03'))[0], '2026-03-03T09:00')
  t.is((await book('2026-03-03T08:00:00Z')).body.error.code, 'SLOT_TAKEN')
  t.is((await book('2026-03-03T08:30:00Z')).status, 400, 'no slot of the page')
  await w.drain()
  const [mail] = await mailsTo(w, 'vera@example.com')
  t.regex(mail?.text ?? '', /Your booking with .* is confirmed/)
  t.is((await book('2026-03-03T09:00:00Z', { name: '   ' })).status, 400)
  const rsvp = `/cal/${w.org.id}/rsvp/${data.token}`
  t.like((await w.visitor.get(rsvp)).data, { booking: true, cancelled: false, status: 'accepted', guest_name: 'Vera', org_name: 'Acme' })
  t.regex((await w.visitor.get(`${rsvp}/ics`)).text, /METHOD:REQUEST/)
  t.like((await w.visitor.post(rsvp, { status: 'declined' })).data, { cancelled: true, status: 'declined' })
  t.deepEqual((await slots('from=2026-03-03&to=2026-03-03'))[0], '2026-03-03T08:00')
  t.like((await w.visitor.post(rsvp, { status: 'accepted' })).data, { cancelled: true, status: 'declined' }, 'stays so')
  t.regex((await w.visitor.get(`${rsvp}/ics`)).text, /METHOD:CANCEL/)
  await w.drain()
  const mails = await mailsTo(w, 'vera@example.com')
  t.is(mails.length, 2)
  t.regex(mails[1]?.text ?? '', /You have cancelled your booking with /)
  t.is((await w.visitor.post(rsvp, { status: 'needs_action' })).status, 400)
  t.is((await w.visitor.get(`/cal/${w.org.id}/rsvp/${'0'.repeat(43)}`)).status, 404)
  t.is((await book('2026-03-03T08:00:00Z')).status, 201)
  t.is((await occurrences(w, '2026-03-03', '2026-03-03', w.org.owner, `&calendars=${calendar.id}`)).length, 2)
  await w.org.owner.patch(w.org.path, { apps: { calendar: false } })
  t.is((await w.visitor.get(path)).status, 404)
  t.is((await w.visitor.get(rsvp)).status, 404)
})

test('booking: across clock changes, hours follow the local clock and slots the elapsed time', async (t) => {
  const w = await shared()
  const hours = { sun: [['13:00', '18:00']] }
  const afternoon = await page(t, w, { durations: [60], hours, horizon_days: 365 }, { timezone: 'America/New_York' })
  t.deepEqual(
    await afternoon.slots('from=2026-03-08&to=2026-03-08'),
    [17, 18, 19, 20, 21].map((hour) => `2026-03-08T${hour}:00`),
  )
  const skipped = await page(
    t,
    w,
    { durations: [30], hours: { sun: [['02:00', '02:30']] }, horizon_days: 365 },
    { timezone: 'America/New_York' },
  )
  t.deepEqual(await skipped.slots('from=2026-03-08&to=2026-03-08'), [])
  const night = await page(
    t,
    w,
    { durations: [60], hours: { sun: [['00:00', '06:00']] }, horizon_days: 365 },
    { timezone: 'America/New_York' },
  )
  t.deepEqual(
    await night.slots('from=2026-11-01&to=2026-11-01'),
    ['04', '05', '06', '07', '08', '09', '10'].map((hour) => `2026-11-01T${hour}:00`),
  )
})

test('booking: buffer, notice and horizon are respected exactly, and readers see the reasons', async (t) => {
  const w = await shared()
  const { slots, path, calendar, book } = await page(t, w, { durations: [30], buffer: 15, slot_step: 15, min_notice: 120, horizon_days: 1 })
  t.is((await slots('from=2026-03-02&to=2026-03-02'))[0], '2026-03-02T10:00')
  t.is((await slots('from=2026-03-02&to=2026-03-05')).at(-1), '2026-03-02T16:30')
  await makeEvent(t, w, { calendar_id: calendar.id, start: '2026-03-02T12:00:00Z', end: '2026-03-02T12:30:00Z' })
  const free = await slots('from=2026-03-02&to=2026-03-02')
  t.deepEqual(
    [free.includes('2026-03-02T11:15'), free.includes('2026-03-02T11:30'), free.includes('2026-03-02T12:30')],
    [true, false, false],
  )
  t.true(free.includes('2026-03-02T12:45'))
  t.is((await book('2026-03-02T09:45:00Z')).status, 400)
  const asked = `${path}/slots?from=2026-03-02&to=2026-03-02&explain=1`
  t.false('refused' in (await w.visitor.get(asked)).data)
  const { refused } = (await w.org.owner.get(asked)).data
  const reasons = Object.fromEntries(
    refused.map(({ start, reason }: Record<string, string>) => [start?.slice(11, 16), reason?.split(':')[0]]),
  )
  t.like(reasons, { '09:00': 'notice', '11:30': 'buffer', '12:00': 'busy' })
})

test('booking: reasons name only the calendars and the events that the reader sees', async (t) => {
  const w = await shared()
  const owner = await createMember(w, w.org)
  const personal = { kind: 'personal', visibility: 'none' }
  const settings = { booking: { enabled: true, min_notice: 0, durations: [30], slot_step: 30, buffer: 30 } }
  const calendar = await makeCalendar(t, w, { ...personal, settings }, owner.client)
  const hidden = await makeCalendar(t, w, personal, owner.client)
  await makeEvent(t, w, { calendar_id: calendar.id, start: '2026-03-03T10:00:00Z', end: '2026-03-03T10:30:00Z' }, owner.client)
  const event = await makeEvent(t, w, { calendar_id: hidden.id, start: '2026-03-03T14:00:00Z', end: '2026-03-03T14:30:00Z' }, owner.client)
  const reader = await createMember(w, w.org)
  const email = await readEmail(w.db, reader.id)
  const share = await owner.client.post(at(w, `/calendars/${calendar.id}/shares`), { email, level: 'read' })
  t.is(share.status, 201, share.text)
  const reasonsFor = async ({ client }: typeof reader): Promise<Record<string, string>> => {
    const { data } = await client.get(`/cal/${w.org.id}/book/${calendar.key}/slots?from=2026-03-03&to=2026-03-03&explain=1`)
    return Object.fromEntries(data.refused.map(({ start, reason }: Record<string, string>) => [start?.slice(11, 16), reason]))
  }
  t.like(await reasonsFor(reader), { '10:00': `busy:${calendar.id}`, '13:30': 'buffer', '14:00': 'busy' })
  t.like(await reasonsFor(owner), { '13:30': `buffer:${event.id}`, '14:00': `busy:${hidden.id}` })
})

test('booking: the same Idempotency-Key returns the first booking', async (t) => {
  const w = await shared()
  const { book } = await page(t, w)
  const key = { 'idempotency-key': 'once' }
  const first = await book('2026-03-03T10:00:00Z', {}, key)
  t.deepEqual((await book('2026-03-03T10:00:00Z', {}, key)).data, first.data)
  t.is((await book('2026-03-03T11:00:00Z', {}, key)).status, 400)
  const empty = await book('2026-03-03T11:00:00Z', {}, { 'idempotency-key': '' })
  t.is(empty.status, 400)
  t.is(empty.body.error.message, 'Idempotency-Key must have 1 to 255 characters')
})

test('booking: a feed shows the view of a reader, with private events as busy, and answers 304 until a change', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const make = (body: object) =>
    makeEvent(t, w, { calendar_id: calendar.id, attendees: [{ email: 'g@example.com' }], notify: false, ...body })
  await make({ title: 'Secret plan', visibility: 'private' })
  await make({ title: 'Open day' })
  const { data } = await w.org.owner.post(at(w, `/calendars/${calendar.id}/feed`), { enabled: true })
  const path = new URL(data.feed_url).pathname
  const feed = await w.visitor.get(path)
  t.is(feed.status, 200)
  t.regex(feed.text, /SUMMARY:Open day/)
  t.regex(feed.text, /SUMMARY:Busy/)
  t.notRegex(feed.text, /Secret|g@example/)
  const etag = feed.headers.get('etag') ?? ''
  const conditional = { 'if-none-match': etag, 'cache-control': 'max-age=0' }
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
    t.is((await w.visitor.get(path, { ...conditional, 'if-none-match': tag })).status, 304, tag)
  const since = feed.headers.get('last-modified') ?? ''
  t.true(Math.abs(Date.parse(since) - Date.now()) < 3_600_000)
  const fresh = { 'cache-control': 'max-age=0' }
  const unchanged = await w.visitor.get(path, { ...fresh, 'if-modified-since': since })
  t.deepEqual([unchanged.status, unchanged.headers.get('last-modified')], [304, since])
  t.is((await w.visitor.get(path, { ...fresh, 'if-modified-since': new Date(Date.parse(since) - 1_000).toUTCString() })).status, 200)
  t.is((await w.visitor.get(path, { ...fresh, 'if-match': '"other"' })).status, 412)
  const again = await w.visitor.get(path)
  t.is(again.headers.get('last-modified'), since)
  t.deepEqual([again.text, again.headers.get('etag')], [feed.text, etag], 'kept as it was made')
  t.is(await countRows(w.db, 'calendar_feeds'), 1)
  t.is((await w.visitor.get(path.replace('.ics', ''))).status, 200)
  await make({ title: 'Another' })
  const changed = await w.visitor.get(path, conditional)
  t.is(changed.status, 200)
  t.regex(changed.text, /SUMMARY:Another/)
  await w.org.owner.post(at(w, `/calendars/${calendar.id}/feed`), { enabled: false })
  t.is(await countRows(w.db, 'calendar_feeds'), 0)
  t.is((await w.visitor.get(path)).status, 404)
})

test('booking: the pages of a booking and of an invitation work by plain forms, and opening them changes nothing', async (t) => {
  const w = await world({}, undefined, now)
  t.teardown(w.close)
  const { calendar } = await page(t, w, { durations: [60] })
  const path = `/book/${w.org.id}/${calendar.key}`
  const month = await w.visitor.get(`${path}?tz=Asia/Tokyo`)
  t.is(month.status, 200)
  t.regex(month.text, /Tokyo/)
  t.regex(month.text, /<a href="\?day=2026-03-03&amp;tz=Asia%2FTokyo" aria-label="Tuesday,? 3 March 2026, 8 free times"/)
  // The times of a day are links, by the clock that was asked for.
  const day = await w.visitor.get(`${path}?tz=Asia/Tokyo&day=2026-03-03`)
  t.regex(day.text, /<a href="\?start=2026-03-03T09%3A00%3A00\.000000Z&amp;tz=Asia%2FTokyo">18:00<\/a>/)
  const shown = await w.visitor.get(`${path}?tz=Asia/Tokyo&start=2026-03-03T09:00:00Z`)
  t.regex(shown.text, /Tuesday,? 3 March 2026, 18:00 to 19:00 \(Asia\/Tokyo\)/)
  const id = /name="id" value="([^"]+)"/.exec(shown.text)?.[1] ?? ''
  const sent = (fields: Record<string, string>, address: string) =>
    w.visitor.send('POST', address, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' })
  const fields = { id, start: '2026-03-03T10:00:00.000000Z', duration: '60', name: '<b>Vera</b>', email: 'vera@example.com' }
  t.is((await sent({ ...fields, email: 'none' }, path)).status, 400)
  const untimed = await sent({ ...fields, start: '' }, path)
  t.is(untimed.status, 400)
  t.regex(untimed.text, /id="start-error">Please choose a time</)
  const done = await sent(fields, path)
  t.is(done.status, 200, done.text)
  const again = await sent(fields, path)
  const rsvp = /\/rsvp\/[^"]+/.exec(done.text)?.[0] ?? ''
  t.is(/\/rsvp\/[^"]+/.exec(again.text)?.[0], rsvp, 'sent twice, booked once')
  t.is((await sent({ ...fields, id: 'other' }, path)).status, 409)
  const view = await w.visitor.get(rsvp)
  t.notRegex(view.text, /<b>Vera/)
  const formToken = /name="form_token" value="([^"]+)"/.exec(view.text)?.[1] ?? ''
  for (const method of ['GET', 'HEAD', 'OPTIONS']) await w.visitor.send(method, `${rsvp}?status=declined`)
  t.is((await sent({ status: 'declined' }, rsvp)).status, 400, 'without what the page has')
  t.like((await w.visitor.get(`/cal${rsvp.replace('/rsvp/', '/').replace(/^\/([^/]+)\//, '/$1/rsvp/')}`)).data, { cancelled: false })
  t.regex((await sent({ status: 'declined', form_token: formToken }, rsvp)).text, /Your booking is cancelled/)
})

test('booking: a title that is too long is cut between characters', async (t) => {
  const w = await shared()
  const { book, calendar } = await page(t, w, { title: 'a'.repeat(95) })
  const { status, text } = await book('2026-03-03T09:00:00Z', { name: `b${'😀'.repeat(199)}` })
  t.is(status, 201, text)
  const [title] = await occurrences(w, '2026-03-03', '2026-03-03', w.org.owner, `&calendars=${calendar.id}`)
  t.true(title?.startsWith(`${'a'.repeat(95)}: b${'😀'.repeat(199)}`), title)
  const { status: second } = await book('2026-03-04T09:00:00Z', { name: '😀'.repeat(200) })
  t.is(second, 201)
})

test('booking: a booked time is free again once its event is elsewhere, cancelled or free, by a change or by an import', async (t) => {
  const w = await shared()
  const { owner } = w.org
  const { id: elsewhere } = await makeCalendar(t, w)
  const [start, slot] = ['2026-03-03T09:00:00Z', '2026-03-03T09:00']
  const ways: Readonly<Record<string, (text: string) => string>> = {
    moved: (text) => text.replaceAll('20260303T10', '20260303T15').replaceAll('20260303T09', '20260303T14'),
    cancelled: (text) => text.replace('STATUS:CONFIRMED', 'STATUS:CANCELLED'),
    free: (text) => text.replace('END:VEVENT', 'TRANSP:TRANSPARENT\r\nEND:VEVENT'),
    'to another calendar': (text) => text,
  }
  for (const [way, edit] of Object.entries(ways)) {
    const { calendar, slots, book } = await page(t, w, { durations: [60] })
    t.is((await book(start)).status, 201, way)
    const { text } = await owner.get(at(w, `/calendars/${calendar.id}/export`))
    const bring = (body: string) => owner.send('POST', at(w, `/calendars/${calendar.id}/import`), body, { 'content-type': 'text/calendar' })
    t.like((await bring(text)).data, { updated: 1 }, way)
    t.false((await slots('from=2026-03-03&to=2026-03-03')).includes(slot), way)
    t.is((await book(start)).body.error.code, 'SLOT_TAKEN', way)
    if (way === 'to another calendar') {
      const { data } = await owner.get(at(w, `/events?from=2026-03-03&to=2026-03-03&calendars=${calendar.id}`))
      t.is((await owner.patch(at(w, `/events/${data.events[0].event_id}`), { calendar_id: elsewhere })).status, 200)
    } else t.like((await bring(edit(text))).data, { updated: 1 }, way)
    t.true((await slots('from=2026-03-03&to=2026-03-03')).includes(slot), way)
    t.is((await book(start)).status, 201, way)
  }
})

test('booking: on a calendar without overlaps, bookings and events refuse each other', async (t) => {
  const w = await shared()
  const { calendar, book } = await page(t, w, {}, open({ durations: [60] }, { no_overlap: true }))
  await makeEvent(t, w, { calendar_id: calendar.id, start: '2026-03-03T09:30:00Z' })
  t.is((await book('2026-03-03T10:00:00Z')).body.error.code, 'SLOT_TAKEN')
  t.is((await book('2026-03-03T11:00:00Z')).status, 201)
  const clash = await w.org.owner.post(at(w, '/events'), { calendar_id: calendar.id, title: 'A', start: '2026-03-03T11:30:00Z' })
  t.is(clash.body.error.code, 'SLOT_TAKEN')
})
