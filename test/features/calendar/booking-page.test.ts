import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-03-02T08:00:00Z' })

async function bookable(t: ExecutionContext, booking: object = {}, more: object = {}) {
  const w = await shared()
  const calendar = await makeCalendar(t, w, {
    settings: { booking: { enabled: true, min_notice: 0, durations: [60], ...booking } },
    ...more,
  })
  return { w, calendar, path: `/book/${w.org.id}/${calendar.key}` }
}

let visitors = 0
/** Each call from an address of its own, past the limit of visitors. */
const fromElsewhere = () => ({ 'x-forwarded-for': `2001:db8::${(++visitors).toString(16)}` })
const open = async (w: World, path: string) => w.visitor.get(path, fromElsewhere())
const post = (w: World, path: string, fields: Record<string, string>) =>
  w.visitor.send('POST', path, new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    ...fromElsewhere(),
  })
const rsvpIn = (text: string) => /\/rsvp\/[^"]+/.exec(text)?.[0]
const visitor = { name: 'Vera', email: 'vera@example.com' }

/** The days of the month that can be chosen. */
const daysIn = (text: string) => [...text.matchAll(/href="\?day=(\d{4}-\d\d-\d\d)[^"]*" aria-label/g)].map(([, day]) => day)
const timesIn = (text: string) => [...text.matchAll(/href="\?start=[^"]*">([^<]+)</g)].map(([, time]) => time)

test('booking page: a page that is sent again with another time returns the first booking', async (t) => {
  const { w, path } = await bookable(t)
  const fields = { id: randomUUID(), ...visitor }
  const first = await post(w, path, { ...fields, start: '2026-03-03T10:00:00Z' })
  t.is(first.status, 200, first.text)
  const again = await post(w, path, { ...fields, start: '2026-03-03T11:00:00Z' })
  t.is(again.status, 200, again.text)
  t.is(rsvpIn(again.text), rsvpIn(first.text))
  t.regex(again.text, /10:00 to 11:00/)
  t.is(await countRows(w.db, 'bookings', w.org.id), 1)
})

test('booking page: a page that is sent again returns the first booking, also with words that could not be booked', async (t) => {
  const { w, path } = await bookable(t)
  const fields = { id: randomUUID(), ...visitor }
  const first = await post(w, path, { ...fields, start: '2026-03-03T10:00:00Z' })
  t.is(first.status, 200, first.text)
  const others = [
    { start: '' },
    { start: 'tomorrow' },
    { start: '2026-03-03T03:30:00Z' },
    { email: 'no address' },
    { name: '', duration: '7' },
  ]
  for (const other of others) {
    const again = await post(w, path, { ...fields, start: '2026-03-03T10:00:00Z', ...other })
    t.is(again.status, 200, JSON.stringify(other))
    t.is(rsvpIn(again.text), rsvpIn(first.text))
  }
  t.is((await post(w, path, { ...fields, id: randomUUID(), start: 'tomorrow' })).status, 400, 'another hidden id is another attempt')
  t.is(await countRows(w.db, 'bookings', w.org.id), 1)
})

test('booking page: each page that is sent without its hidden id is a booking of its own', async (t) => {
  const { w, path } = await bookable(t)
  const sent = [
    await post(w, path, { ...visitor, start: '2026-03-03T10:00:00Z' }),
    await post(w, path, { ...visitor, id: '', start: '2026-03-03T11:00:00Z' }),
    await post(w, path, { ...visitor, id: 'x'.repeat(300), start: '2026-03-03T13:00:00Z' }),
  ]
  t.deepEqual(
    sent.map(({ status }) => status),
    [200, 200, 200],
  )
  t.not(rsvpIn(sent[0]?.text ?? ''), rsvpIn(sent[1]?.text ?? ''))
})

test('booking page: a month marks the days with free times, and its neighbours end where nothing can be booked', async (t) => {
  const { w, calendar, path } = await bookable(t, { hours: { mon: [['09:00', '11:00']], thu: [['09:00', '10:00']] }, horizon_days: 40 })
  await makeEvent(t, w, { calendar_id: calendar.id, start: '2026-03-05T09:00:00Z', end: '2026-03-05T10:00:00Z' })
  const march = (await open(w, path)).text
  t.deepEqual(
    daysIn(march),
    ['02', '09', '12', '16', '19', '23', '26', '30'].map((day) => `2026-03-${day}`),
  )
  t.notRegex(march, /month=2026-02/)
  t.regex(march, /href="\?month=2026-04" aria-label="April 2026"/)
  const april = (await open(w, `${path}?month=2026-04`)).text
  t.deepEqual(daysIn(april), ['2026-04-02', '2026-04-06', '2026-04-09'])
  t.regex(april, /month=2026-03/)
  t.notRegex(april, /month=2026-05/)
  for (const month of ['2026-05', '2025-01', '9999-12', '0000-00', '2026-13', 'x', ''])
    t.deepEqual(daysIn((await open(w, `${path}?month=${month}`)).text), daysIn(march), month)
  t.deepEqual(timesIn((await open(w, `${path}?day=2026-03-09`)).text), ['09:00', '10:00'])
  t.regex((await open(w, `${path}?day=2026-03-05`)).text, /no free time on this day/)
})

test('booking page: if the month has no free time, the next one is shown', async (t) => {
  const { w, path } = await bookable(t, { hours: { sun: [['09:00', '10:00']] }, horizon_days: 365, min_notice: 29 * 1440 })
  t.deepEqual(daysIn((await open(w, path)).text).slice(0, 1), ['2026-04-05'])
  t.deepEqual(daysIn((await open(w, `${path}?month=2026-03`)).text), [])
})

test('booking page: length and zone are kept from step to step', async (t) => {
  const { w, path } = await bookable(t, { durations: [30, 60], hours: { tue: [['09:00', '10:00']] } }, { timezone: 'Europe/Berlin' })
  const month = (await open(w, `${path}?duration=60&tz=Asia/Kolkata`)).text
  t.regex(month, /href="\?month=2026-03&amp;duration=30&amp;tz=Asia%2FKolkata">30 min</)
  const [, link = ''] = /href="(\?day=2026-03-03[^"]*)"/.exec(month) ?? []
  const day = (await open(w, path + link.replaceAll('&amp;', '&'))).text
  t.deepEqual(timesIn(day), ['13:30'])
  const [, time = ''] = /href="(\?start=[^"]*)"/.exec(day) ?? []
  const details = (await open(w, path + time.replaceAll('&amp;', '&'))).text
  t.regex(details, /13:30 to 14:30 \(Asia\/Kolkata\)/)
  t.regex(details, /name="duration" value="60"/)
})

test('booking page: the times of a repeated hour are distinguished', async (t) => {
  const booking = { hours: { sun: [['01:00', '04:00']] }, horizon_days: 365 }
  const { w, path } = await bookable(t, booking, { timezone: 'Europe/Berlin' })
  t.deepEqual(timesIn((await open(w, `${path}?month=2026-10&day=2026-10-25`)).text), ['01:00', '02:00 GMT+2', '02:00 GMT+1', '03:00'])
})

test('booking page: for a time that was taken meanwhile, the page offers others of the day and keeps the input', async (t) => {
  const { w, path } = await bookable(t, { hours: { tue: [['09:00', '12:00']] } })
  t.is((await post(w, path, { ...visitor, start: '2026-03-03T10:00:00Z' })).status, 200)
  const id = randomUUID()
  const sent = { id, name: 'Ben', email: 'ben@example.com', notes: 'By bike' }
  const refused = await post(w, `${path}?start=2026-03-03T10:00:00Z`, { ...sent, start: '2026-03-03T10:00:00Z' })
  t.is(refused.status, 409)
  t.regex(refused.text, /id="start-error">This time is taken</)
  t.deepEqual(
    [...refused.text.matchAll(/type="radio" name="start" value="([^"]+)"/g)].map(([, start]) => start?.slice(0, 16)),
    ['2026-03-03T09:00', '2026-03-03T11:00'],
  )
  for (const kept of ['value="Ben"', 'value="ben@example.com"', 'By bike', `value="${id}"`]) t.true(refused.text.includes(kept), kept)
  t.is((await post(w, path, { ...sent, start: '2026-03-03T11:00:00Z' })).status, 200)
  const late = await open(w, `${path}?start=2026-03-03T10:00:00Z`)
  t.regex(late.text, /no longer free/)
  t.deepEqual(timesIn(late.text), ['09:00'])
})

test('booking page: a page whose field was not posted is shown again with it empty', async (t) => {
  const { w, path } = await bookable(t)
  const refused = await post(w, path, { start: '2026-03-03T10:00:00Z', email: 'vera@example.com' })
  t.is(refused.status, 400)
  t.notRegex(refused.text, /undefined/)
})
