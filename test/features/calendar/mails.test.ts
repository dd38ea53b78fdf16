import test from 'ava'
import { receivedMails, shape } from '#test/features/calendar/received-mails.ts'
import { addMailsOfDay, readEmail, setWorkspaceMails } from '#test/features/calendar/rows.ts'
import { at, makeEvent } from '#test/features/calendar/support.ts'
import { createMember } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)
const sharedAt = shareWorld(test, {}, { at: '2026-11-25T08:00:00Z' })

/** A clock that moves on with every change, so that mails have an order. */
function ticking(): { now: () => Date; tick: () => void } {
  let ms = Date.parse('2026-11-25T08:00:00Z')
  return {
    now: () => new Date(ms),
    tick: () => {
      ms += 60_000
    },
  }
}

test('mails: guests get mails of changes that concern them, and no others', async (t) => {
  const { now, tick } = ticking()
  const w = await world({}, undefined, now)
  t.teardown(w.close)
  const [ada, bob, eve] = ['ada@example.com', 'bob@example.com', 'eve@example.com'] as const
  const { owner } = w.org
  const event = await makeEvent(t, w, { attendees: [{ email: ada, name: 'Ada "A" Lovelace' }, { email: bob }], location: 'Room 1' })
  const path = at(w, `/events/${event.id}`)
  const step = async (body: object, expected: Record<string, string[]>) => {
    await w.drain()
    tick()
    t.is((await owner.patch(path, body)).status, 200)
    for (const [address, mails] of Object.entries(expected))
      t.deepEqual(shape(await receivedMails(w, address)), mails, JSON.stringify(body))
  }
  t.deepEqual(shape(await receivedMails(w, ada)), ['REQUEST 0'])
  await step({ reminders: [5], color: '#ff0000' }, { [ada]: ['REQUEST 0'] })
  await step({ title: 'New name' }, { [ada]: ['REQUEST 0', 'REQUEST 0'] })
  await step({ start: '2026-12-01T10:00:00Z' }, { [ada]: ['REQUEST 0', 'REQUEST 0', 'REQUEST 1'] })
  await step(
    { attendees: [{ email: bob }, { email: eve }] },
    { [ada]: ['REQUEST 0', 'REQUEST 0', 'REQUEST 1', 'CANCEL 1'], [eve]: ['REQUEST 1'] },
  )
  await step({ title: 'Quiet', notify: false }, { [eve]: ['REQUEST 1'] })
  await w.drain()
  tick()
  await owner.delete(path)
  t.deepEqual(shape(await receivedMails(w, eve)), ['REQUEST 1', 'CANCEL 2'])
  t.is((await receivedMails(w, ada)).length, 4)
  const all = [...(await receivedMails(w, bob)), ...(await receivedMails(w, ada))]
  t.is(new Set(all.map(({ uid }) => uid)).size, 1)
})

test('mails: an invitation contains who, when and where, as text and as a calendar file', async (t) => {
  const w = await shared()
  const email = await readEmail(w.db, w.org.ownerId)
  await makeEvent(t, w, {
    title: 'Bridge; plans, and\\more',
    start: '2026-11-10T09:00:00-07:00',
    timezone: 'America/Vancouver',
    recurrence: 'FREQ=WEEKLY;COUNT=3',
    location: 'Pier 1',
    description: 'Line one\r\nLine two',
    attendees: [{ email: 'words-guest@example.com', name: 'Gil "the" Guest' }],
  })
  const [mail] = await receivedMails(w, 'words-guest@example.com')
  t.is(mail?.subject, 'Invitation: Bridge; plans, and\\more')
  t.is(mail?.replyTo, email)
  t.regex(mail?.text ?? '', /Tuesday,? 10 November 2026, 09:00 to 10:00 \(America\/Vancouver\)/)
  t.regex(mail?.text ?? '', /every week for 3 times/)
  t.regex(mail?.text ?? '', new RegExp(`${w.config.publicUrl}/rsvp/${w.org.id}/[0-9A-Za-z]{43}`))
  const event = mail?.ics.getFirstSubcomponent('vevent')
  t.is(event?.getFirstPropertyValue('summary'), 'Bridge; plans, and\\more')
  t.is(event?.getFirstPropertyValue('description'), 'Line one\nLine two')
  t.is(event?.getFirstProperty('dtstart')?.getParameter('tzid'), 'America/Vancouver')
  t.is(String(event?.getFirstPropertyValue('dtstart')), '2026-11-10T09:00:00')
  t.is(event?.getFirstProperty('attendee')?.getParameter('cn'), 'Gil "the" Guest')
  t.is(event?.getAllProperties('attendee').length, 1, 'each guest sees only itself')
  t.is(String(event?.getFirstPropertyValue('organizer')), `mailto:${email}`, 'answers of programs go to the organizer')
  t.is(event?.getFirstProperty('organizer')?.getParameter('sent-by'), 'mailto:no-reply@localhost')
  t.is(mail?.headers.get('auto-submitted'), 'auto-generated')
  t.truthy(mail?.ics.getFirstSubcomponent('vtimezone'))
})

test('mails: guests of one occurrence get its mails, and a cancellation names the occurrence', async (t) => {
  const w = await shared()
  const series = await makeEvent(t, w, { recurrence: 'FREQ=WEEKLY;COUNT=4', attendees: [{ email: 'occurrence-guest@example.com' }] })
  t.deepEqual(shape(await receivedMails(w, 'occurrence-guest@example.com')), ['REQUEST 0'])
  await w.org.owner.delete(at(w, `/events/${series.id}?scope=this&occurrence=2026-12-08T09:00:00Z`))
  const [, off] = await receivedMails(w, 'occurrence-guest@example.com')
  t.like(off, { method: 'CANCEL', sequence: 1 })
  const vevent = off?.ics.getFirstSubcomponent('vevent')
  t.is(String(vevent?.getFirstPropertyValue('recurrence-id')), '2026-12-08T09:00:00Z')
  t.is(String(vevent?.getFirstPropertyValue('status')), 'CANCELLED')
  t.is(vevent?.getFirstProperty('rrule'), null)
  const [asked] = await receivedMails(w, 'occurrence-guest@example.com')
  const [, token] = new RegExp(`/rsvp/${w.org.id}/(\\w+)`).exec(asked?.text ?? '') ?? []
  const own = await w.visitor.get(`/cal/${w.org.id}/rsvp/${token}/ics`)
  t.regex(own.text, /^EXDATE:20261208T090000Z$/m, 'the file of the series leaves it out')
})

test('mails: an all-day occurrence is named by its date, one in another zone by the date of its series', async (t) => {
  const w = await shared()
  const attendees = [{ email: 'dates-guest@example.com' }]
  const days = await makeEvent(t, w, { start: '2026-12-01', recurrence: 'FREQ=DAILY;COUNT=3', attendees })
  await w.org.owner.patch(at(w, `/events/${days.id}?scope=this&occurrence=2026-12-02`), { title: 'Day' })
  const hours = await makeEvent(t, w, { timezone: 'Europe/Berlin', recurrence: 'FREQ=DAILY;COUNT=3', attendees })
  const change = { title: 'Hour', start: '2026-12-02T15:00:00Z', timezone: 'America/New_York' }
  await w.org.owner.patch(at(w, `/events/${hours.id}?scope=this&occurrence=2026-12-02T09:00:00Z`), change)
  const mails = await receivedMails(w, 'dates-guest@example.com')
  const named = (title: string) =>
    mails.map(({ ics }) => ics.toString()).find((text) => text.includes(`SUMMARY:${title}\r\n`) && text.includes('RECURRENCE-ID')) ?? ''
  t.regex(named('Day'), /^RECURRENCE-ID;VALUE=DATE:20261202\r$/m)
  t.regex(named('Hour'), /^RECURRENCE-ID;TZID=Europe\/Berlin:20261202T100000\r$/m)
  t.regex(named('Hour'), /^DTSTART;TZID=America\/New_York:20261202T100000\r$/m)
  for (const zone of ['Europe/Berlin', 'America/New_York']) t.regex(named('Hour'), new RegExp(`^TZID:${zone}\r$`, 'm'))
})

test('mails: organizers get no mail of their own invitations, and members get the mails of any guest', async (t) => {
  const w = await shared()
  const ada = await createMember(w, w.org, [], 'Ada')
  const event = await makeEvent(t, w, { attendees: [{ user_id: w.org.ownerId }, { user_id: ada.id }] })
  t.deepEqual(
    event.attendees.map(({ status }: { status: string }) => status),
    ['accepted', 'needs_action'],
  )
  await w.drain()
  const { data } = await w.org.owner.get(at(w, `/events/${event.id}`))
  t.deepEqual(
    data.attendees.map(({ mailed }: { mailed: boolean }) => mailed),
    [false, true],
  )
})

test('mails: a guest must answer again after a change of the time, not after a change of the text', async (t) => {
  const w = await shared()
  const ada = await createMember(w, w.org, [], 'Ada')
  const event = await makeEvent(t, w, { attendees: [{ user_id: ada.id }] })
  const path = at(w, `/events/${event.id}`)
  await ada.client.post(`${path}/rsvp`, { status: 'accepted' })
  t.is((await w.org.owner.patch(path, { title: 'Other words' })).data.attendees[0].status, 'accepted')
  t.is((await w.org.owner.patch(path, { start: '2026-12-03T09:00:00Z' })).data.attendees[0].status, 'needs_action')
})

test('mails: an address gets 50 calendar mails a day; further events are kept and show who got no mail', async (t) => {
  const w = await sharedAt()
  await addMailsOfDay(w.db, 'full@example.com', 49)
  const make = () => makeEvent(t, w, { attendees: [{ email: 'Full@example.com' }, { email: 'free@example.com' }] })
  const [last, beyond] = [await make(), await make()]
  await w.drain()
  const mailed = async (id: string) =>
    (await w.org.owner.get(at(w, `/events/${id}`))).data.attendees.map((guest: { mailed: boolean }) => guest.mailed)
  t.is((await mailsTo(w, 'full@example.com')).length, 1)
  t.deepEqual([...(await mailed(last.id)), ...(await mailed(beyond.id))].sort(), [false, true, true, true])
  await setWorkspaceMails(w.db, w.org.id, 2_000)
  await makeEvent(t, w, { attendees: [{ email: 'late@example.com' }] })
  await w.drain()
  t.is((await mailsTo(w, 'late@example.com')).length, 0)
})
