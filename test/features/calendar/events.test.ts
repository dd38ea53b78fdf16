import test from 'ava'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { chain, createFlow, recordsOf } from '#test/features/flows/support.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test("events: an event without a calendar is on the person's own calendar, an hour long", async (t) => {
  const w = await fresh()
  const event = await makeEvent(t, w, { start: '2026-12-01T10:00:00+01:00', location: 'Room 1' })
  t.like(event, {
    title: 'Review',
    start: '2026-12-01T09:00:00.000000Z',
    end: '2026-12-01T10:00:00.000000Z',
    all_day: false,
    timezone: 'UTC',
    recurrence: '',
    status: 'confirmed',
    visibility: 'default',
    source: 'manual',
    attendees: [],
    reminders: [],
    can_edit: true,
    calendar_name: 'Olive Owner',
  })
  t.deepEqual((await w.org.owner.get(at(w, `/events/${event.id}`))).data, event)
  t.deepEqual(await occurrences(w, '2026-12-01', '2026-12-01'), ['Review 2026-12-01T09:00Z'])
  t.deepEqual(await occurrences(w, '2026-12-01T10:00:00Z', '2026-12-02'), [], 'what has ended is out')
})

test('events: all-day events have dates; an end that is omitted or equals the start means one day', async (t) => {
  const w = await fresh()
  const one = await makeEvent(t, w, { start: '2026-12-24', title: 'One' })
  t.like(one, { start: '2026-12-24', end: '2026-12-25', all_day: true })
  t.like(await makeEvent(t, w, { start: '2026-12-24', end: '2026-12-24', title: 'Two' }), { end: '2026-12-25' })
  t.like(await makeEvent(t, w, { start: '2026-12-24', end: '2026-12-27', title: 'Three' }), { end: '2026-12-27' })
  t.deepEqual(await occurrences(w, '2026-12-25', '2026-12-26'), ['Three 2026-12-24'])
  t.deepEqual(await occurrences(w, '2026-12-27', '2026-12-28'), [])
  const read = (await w.org.owner.patch(at(w, `/events/${one.id}`), one)).data
  t.like(read, { start: one.start, end: one.end, all_day: true }, 'what was read can be sent again')
})

test('events: a change of the start keeps the length, and omitted fields keep their values', async (t) => {
  const w = await fresh()
  const event = await makeEvent(t, w, { end: '2026-12-01T09:25:00Z', description: 'Bring the plans', reminders: [10] })
  const { data } = await w.org.owner.patch(at(w, `/events/${event.id}`), { start: '2026-12-02T15:00:00Z' })
  t.like(data, { end: '2026-12-02T15:25:00.000000Z', description: 'Bring the plans', reminders: [10] })
  const dated = await w.org.owner.patch(at(w, `/events/${event.id}`), { start: '2026-12-03' })
  t.like(dated.data, { start: '2026-12-03', end: '2026-12-04', all_day: true })
})

const refused: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['no title', { title: undefined }, /title is required/],
  ['an empty title', { title: '' }, /title/],
  ['301 characters in the title', { title: 'x'.repeat(301) }, /title must have at most 300/],
  ['no start', { start: undefined }, /start is required/],
  ['a start without a zone', { start: '2026-12-01T09:00:00' }, /start must be an RFC 3339 instant/],
  ['30 February', { start: '2026-02-30' }, /start must be/],
  ['an end before the start', { end: '2026-12-01T08:00:00Z' }, /end must not be before start/],
  ['no such zone', { timezone: 'Berlin' }, /timezone/],
  ['an hourly rule', { recurrence: 'FREQ=HOURLY' }, /recurrence must have FREQ=DAILY/],
  ['no rule', { recurrence: 'every day' }, /recurrence must be parts/],
  ['a rule with COUNT and UNTIL', { recurrence: 'FREQ=DAILY;COUNT=2;UNTIL=20270101' }, /COUNT and UNTIL/],
  ['a rule of 501 characters', { recurrence: `FREQ=DAILY;BYMONTH=${'1,'.repeat(240)}1`.padEnd(501, ',1') }, /at most 500/],
  ['25 starts a day', { recurrence: 'FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=1,2,3,4,5' }, /24 starts a day/],
  ['six reminders', { reminders: [1, 2, 3, 4, 5, 6] }, /reminders/],
  ['a reminder of more than 7 days', { reminders: [10_081] }, /reminders/],
  ['101 guests', { attendees: Array.from({ length: 101 }, (_, n) => ({ email: `g${n}@example.com` })) }, /attendees must have at most 100/],
  ['a guest without an address', { attendees: [{ name: 'Ada' }] }, /attendees\[0\] must have user_id or email/],
  [
    'a guest that is no member',
    { attendees: [{ user_id: '01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d' }] },
    /attendees\[0\]\.user_id must be a member/,
  ],
  ['half a link', { record_type: 'invoices' }, /must be sent together/],
  ['a link to no record', { record_type: 'invoices', record_id: '01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d' }, /record_id must be/],
]
test('events: an invalid event is refused, and the error names the field', async (t) => {
  const w = await fresh()
  for (const [name, body, message] of refused) {
    const { status, body: answer } = await w.org.owner.post(at(w, '/events'), { title: 'A', start: '2026-12-01T09:00:00Z', ...body })
    t.is(status, 400, name)
    t.regex(answer.error.message, message, name)
  }
})

test('events: the limits of an event are exact', async (t) => {
  const w = await fresh()
  const attendees = Array.from({ length: 100 }, (_, n) => ({ email: `guest${n}@example.com` }))
  const texts = { title: 'x'.repeat(300), location: 'x'.repeat(500), description: 'x'.repeat(20_000) }
  const event = await makeEvent(t, w, { ...texts, attendees, notify: false, reminders: [0, 1, 2, 3, 10_080] })
  t.is(event.attendees.length, 100)
  t.true(event.attendees.every(({ mailed }: { mailed: boolean }) => !mailed))
})

test('events: a window is at most 400 days, and its ends are instants or days', async (t) => {
  const w = await fresh()
  const list = (query: string) => w.org.owner.get(at(w, `/events?${query}`))
  t.is((await list('from=2026-01-01&to=2027-02-04')).status, 200)
  t.is((await list('from=2026-01-01&to=2027-02-06')).status, 400)
  t.is((await list('from=2026-01-01T00:00:00Z&to=2027-02-05T00:00:00Z')).status, 200)
  t.is((await list('from=2026-01-01T00:00:00Z&to=2027-02-05T00:00:01Z')).status, 400)
  t.is((await list('from=2026-01-01')).status, 400)
  t.is((await list('from=2026-01-02&to=2026-01-01T00:00:00Z')).status, 400)
  t.is((await list('from=soon&to=2026-01-01')).status, 400)
  t.is((await list('from=2026-01-01&to=2026-01-02&calendars=01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d')).status, 404)
})

test('events: a calendar without overlaps refuses them, also of series and moves; adjacent events do not overlap', async (t) => {
  const w = await fresh()
  const { id: calendar_id } = await makeCalendar(t, w, { settings: { no_overlap: true } })
  const make = (body: Record<string, unknown>) => w.org.owner.post(at(w, '/events'), { calendar_id, title: 'A', ...body })
  t.is((await make({ start: '2026-12-01T09:00:00Z' })).status, 201)
  const clash = await make({ start: '2026-12-01T09:59:00Z' })
  t.deepEqual([clash.status, clash.body.error.code], [409, 'SLOT_TAKEN'])
  t.is((await make({ start: '2026-12-01T10:00:00Z' })).status, 201)
  t.is((await make({ start: '2026-12-01T08:00:00Z' })).status, 201)
  t.is((await make({ start: '2026-12-01T09:00:00Z', status: 'cancelled' })).status, 201)
  t.is((await make({ start: '2026-11-23T09:30:00Z', recurrence: 'FREQ=DAILY' })).status, 409)
  t.is((await make({ start: '2026-12-08T09:30:00Z', recurrence: 'FREQ=DAILY', end: '2026-12-09T10:00:00Z' })).status, 409, 'with itself')
  const later = await make({ start: '2026-12-01T12:00:00Z' })
  t.is((await w.org.owner.patch(at(w, `/events/${later.data.id}`), { start: '2026-12-01T09:30:00Z' })).status, 409)
  t.is((await w.org.owner.patch(at(w, `/events/${later.data.id}`), { start: '2026-12-01T12:30:00Z' })).status, 200)
})

test('events: events are linked to records, for callers who may read the records', async (t) => {
  const w = await fresh()
  const record = (await w.org.owner.post(`${w.org.path}/records/invoices`, { values: {} })).data
  const event = await makeEvent(t, w, { record_type: 'invoices', record_id: record.id })
  const path = at(w, `/records/invoices/${record.id}/events`)
  t.deepEqual((await w.org.owner.get(path)).data, [event])
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read'], resources: ['invoices'] }])
  t.deepEqual((await member.client.get(path)).data, [], 'on a calendar of somebody else')
  t.is((await w.org.owner.get(at(w, `/records/invoices/${event.id}/events`))).status, 404)
  const change = (body: object, client = w.org.owner) => client.patch(at(w, `/events/${event.id}`), body)
  for (const record_type of ['invoices', 'nothing']) t.is((await change({ record_type, record_id: event.id })).status, 400)
  const email = await readEmail(w.db, member.id)
  const stranger = await createMember(w, w.org)
  await w.org.owner.post(at(w, `/calendars/${event.calendar_id}/shares`), { email, level: 'write' })
  t.is((await change({ ...event, title: 'Sent back' }, member.client)).data.title, 'Sent back')
  t.is((await change({ ...event }, stranger.client)).status, 404)
  t.like((await change({ record_type: null, record_id: null })).data, { record_type: null, record_id: null })
})

test('events: a change replaces the guests, and a guest without a name keeps the earlier one', async (t) => {
  const w = await fresh()
  const event = await makeEvent(t, w, {
    attendees: [
      { email: 'a@example.com', name: 'Old' },
      { email: 'b@example.com', name: 'Bo' },
    ],
    notify: false,
  })
  const attendees = [{ email: 'A@example.com', name: 'New' }, { email: 'b@example.com' }, { email: 'c@example.com' }]
  const { data } = await w.org.owner.patch(at(w, `/events/${event.id}`), { attendees, notify: false })
  const shown = (guests: Record<string, string>[]) => guests.map(({ email, name }) => `${email} ${name}`)
  t.deepEqual(shown(data.attendees), ['a@example.com New', 'b@example.com Bo', 'c@example.com '])
  t.deepEqual((await w.org.owner.get(at(w, `/events/${event.id}`))).data.attendees, data.attendees)
})

test('events: an event is answered by its guests, who see it and cannot change it', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  const event = await makeEvent(t, w, {
    attendees: [{ user_id: ada.id }, { email: 'guest@example.com', name: 'Guest' }],
    visibility: 'private',
  })
  t.deepEqual(
    event.attendees.map(({ name, status }: Record<string, string>) => [name, status]),
    [
      ['Ada', 'needs_action'],
      ['Guest', 'needs_action'],
    ],
  )
  const path = at(w, `/events/${event.id}`)
  t.like((await ada.client.get(path)).data, { title: 'Review', can_edit: false })
  t.is((await ada.client.patch(path, { title: 'Mine' })).status, 403)
  t.is((await ada.client.post(`${path}/rsvp`, { status: 'tentative' })).data.attendees[0].status, 'tentative')
  t.is((await ada.client.post(`${path}/rsvp`, { status: 'needs_action' })).data.attendees[0].status, 'needs_action')
  t.is((await ada.client.post(`${path}/rsvp`, { status: 'maybe' })).status, 400)
  t.is((await w.org.owner.post(`${path}/rsvp`, { status: 'accepted' })).status, 403)
  t.deepEqual(await occurrences(w, '2026-12-01', '2026-12-01', ada.client), ['Review 2026-12-01T09:00Z'])
  t.deepEqual(await occurrences(w, '2026-12-01', '2026-12-01', ada.client, '&invites=0'), [])
  const stranger = await createMember(w, w.org)
  t.is((await stranger.client.get(path)).status, 404)
})

test('events: free/busy shows people and calendars up to their visibility', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  await makeEvent(t, w, { title: 'Secret' }, ada.client)
  const query = `from=2026-12-01&to=2026-12-01&users=${ada.id},${w.org.ownerId}`
  const ask = async (more = '') => (await w.org.owner.get(at(w, `/freebusy?${query}${more}`))).data
  t.deepEqual((await ask()).users, [
    { id: ada.id, busy: [], unknown: true },
    { id: w.org.ownerId, busy: [], unknown: false },
  ])
  const own = (await ada.client.get(at(w, '/calendars'))).data[0]
  await ada.client.patch(at(w, `/calendars/${own.id}`), { visibility: 'busy' })
  const known = await ask(`&calendars=${own.id},01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d`)
  const busy = [{ start: '2026-12-01T09:00:00.000000Z', end: '2026-12-01T10:00:00.000000Z' }]
  t.deepEqual(known.users[0], { id: ada.id, busy, unknown: false })
  t.deepEqual(known.calendars, [
    { id: own.id, busy, unknown: false },
    { id: '01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d', busy: [], unknown: true },
  ])
})

test('events: suggested times are free for everybody', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  const own = (await ada.client.get(at(w, '/calendars'))).data[0]
  await ada.client.patch(at(w, `/calendars/${own.id}`), { visibility: 'busy' })
  await makeEvent(t, w, { start: '2026-12-01T09:30:00Z', end: '2026-12-01T12:00:00Z' }, ada.client)
  await makeEvent(t, w, { start: '2026-12-01T13:00:00Z', end: '2026-12-01T16:45:00Z' })
  const users = [ada.id, w.org.ownerId, '01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d']
  const ask = { users, from: '2026-12-01', to: '2026-12-01', duration: 30, day_start: '09:00', day_end: '18:00' }
  const { data } = await w.org.owner.post(at(w, '/suggest'), ask)
  t.deepEqual(data.unknown, ['01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d'])
  const starts = data.slots.map(({ start }: { start: string }) => start.slice(11, 16))
  t.deepEqual(starts, ['09:00', '12:00', '12:30', '17:00', '17:30'])
  t.is((await w.org.owner.post(at(w, '/suggest'), { ...ask, limit: 2 })).data.slots.length, 2)
  t.is((await w.org.owner.post(at(w, '/suggest'), { ...ask, duration: 4 })).status, 400)
})

test('events: flows hear of both parts of a split series, and of an event that an import cancels', async (t) => {
  const w = await fresh()
  const { owner } = w.org
  const calendar = await makeCalendar(t, w)
  for (const name of ['created', 'updated', 'cancelled']) {
    const trigger = ['t', 'trigger.calendar_event', { calendar_key: calendar.key, event: name }] as const
    const values = { name: `${name} {{trigger.calendar_event.title}} {{trigger.calendar_event.start}}` }
    await createFlow(t, w.org, { enabled: true, ...chain(trigger, ['a', 'action.create_record', { object_type: 'locations', values }]) })
  }
  const heard = async () => {
    await w.drain()
    return (await recordsOf(w.org, 'locations')).map(({ name }) => (name as string).replace('T09:00:00.000000Z', '')).sort()
  }
  const series = { calendar_id: calendar.id, title: 'Old', start: '2030-03-01T09:00:00Z', recurrence: 'FREQ=DAILY;COUNT=4' }
  const { id } = await makeEvent(t, w, series)
  const later = await owner.patch(at(w, `/events/${id}?scope=following&occurrence=2030-03-03T09:00:00Z`), { title: 'New' })
  t.is(later.status, 200)
  const ofSplit = ['created New 2030-03-03', 'created Old 2030-03-01', 'updated Old 2030-03-01']
  t.deepEqual(await heard(), ofSplit)
  const { text } = await owner.get(at(w, `/calendars/${calendar.id}/export`))
  const cancelled = text.replaceAll('STATUS:CONFIRMED', 'STATUS:CANCELLED')
  const bring = () => owner.send('POST', at(w, `/calendars/${calendar.id}/import`), cancelled, { 'content-type': 'text/calendar' })
  t.like((await bring()).data, { updated: 2 })
  t.deepEqual(await heard(), ['cancelled New 2030-03-03', 'cancelled Old 2030-03-01', ...ofSplit])
})

test('events: a title and a calendar’s name must not be blank', async (t) => {
  const w = await fresh()
  const { owner } = w.org
  const { id } = await makeEvent(t, w, {})
  const calendar = await makeCalendar(t, w)
  for (const answer of [
    await owner.post(at(w, '/events'), { title: '  ', start: '2026-12-01T09:00:00Z' }),
    await owner.patch(at(w, `/events/${id}`), { title: '\n' }),
    await owner.post(at(w, '/calendars'), { key: 'blank', name: ' ' }),
    await owner.patch(at(w, `/calendars/${calendar.id}`), { name: ' ' }),
  ])
    t.like({ status: answer.status, ...answer.body.error }, { status: 400, code: 'VALIDATION_ERROR' }, answer.text)
})
