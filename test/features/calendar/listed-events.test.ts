import test, { type ExecutionContext } from 'ava'
import { createEvent } from '#shared/features/calendar/events/create-event.ts'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { ageZone, readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { byHand, chain, createFlow, ended, start } from '#test/features/flows/support.ts'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-11-25T08:00:00Z' })

/** The events of calendars that the owner sees after a position. */
const told = async (w: World, after: number, client = w.org.owner): Promise<Seen[]> =>
  (await readAll(w, client, after)).filter(({ type }) => type.startsWith('calendar.'))

/** Each as its type and title, with more keys of its data. */
const brief = (events: readonly Seen[], ...keys: string[]) =>
  events.map(({ type, data }) => [type.replace(/^calendar\.(event\.)?/, ''), data.title, ...keys.map((key) => data[key])])

const importFile = (w: World, calendarId: string, ...lines: readonly string[]) =>
  w.org.owner.send(
    'POST',
    at(w, `/calendars/${calendarId}/import`),
    ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n'),
    { 'content-type': 'text/calendar' },
  )

test('listed events: an event is created, changed, cancelled and deleted', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const after = await lastSeq(w)
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id, description: 'words', location: 'here' })
  const path = at(w, `/events/${id}`)
  const move = { title: 'Moved', start: '2026-12-02' }
  for (const change of [move, move, { status: 'cancelled' }, { status: 'tentative' }])
    t.is((await w.org.owner.patch(path, change)).status, 200)
  t.is((await w.org.owner.delete(path)).status, 200)
  const events = await told(w, after)
  const [first] = events
  t.deepEqual(first && { ...first, seq: 0, id: '', at: '' }, {
    seq: 0,
    id: '',
    at: '',
    type: 'calendar.event.created',
    actor: { id: w.org.ownerId, type: 'user' },
    cause: { kind: 'request', id: null },
    subject: { calendar: calendar.id, id },
    data: {
      start: '2026-12-01T09:00:00.000000Z',
      end: '2026-12-01T10:00:00.000000Z',
      all_day: false,
      title: 'Review',
      status: 'confirmed',
      series_id: null,
      original_start: null,
    },
  })
  t.deepEqual(brief(events, 'start', 'status'), [
    ['created', 'Review', '2026-12-01T09:00:00.000000Z', 'confirmed'],
    ['updated', 'Moved', '2026-12-02', 'confirmed'],
    ['cancelled', 'Moved', '2026-12-02', 'cancelled'],
    ['updated', 'Moved', '2026-12-02', 'tentative'],
    ['cancelled', 'Moved', '2026-12-02', 'cancelled'],
  ])
  t.true(events.every(({ subject }) => subject.id === id && subject.calendar === calendar.id))
})

test('listed events: a change of a series is one event, of one occurrence or of the series', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id, title: 'Many', recurrence: 'FREQ=DAILY;COUNT=9' })
  const after = await lastSeq(w)
  const nth = (day: number, scope: string) => at(w, `/events/${id}?scope=${scope}&occurrence=2026-12-0${day}T09:00:00Z`)
  const { data: own } = await w.org.owner.patch(nth(2, 'this'), { title: 'Own', start: '2026-12-02T11:00:00Z' })
  t.is((await w.org.owner.delete(nth(3, 'this'))).status, 200)
  const { data: later } = await w.org.owner.patch(nth(6, 'following'), { title: 'Later' })
  t.is((await w.org.owner.patch(at(w, `/events/${id}`), { title: 'All' })).status, 200)
  t.is((await w.org.owner.delete(nth(5, 'following'))).status, 200)
  t.is((await w.org.owner.delete(at(w, `/events/${later.id}`))).status, 200)
  const events = await told(w, after)
  t.deepEqual(brief(events, 'series_id', 'start', 'original_start'), [
    ['updated', 'Own', id, '2026-12-02T11:00:00.000000Z', '2026-12-02T09:00:00.000000Z'],
    ['cancelled', 'Many', id, '2026-12-03T09:00:00.000000Z', '2026-12-03T09:00:00.000000Z'],
    ['updated', 'Many', null, '2026-12-01T09:00:00.000000Z', null],
    ['created', 'Later', null, '2026-12-06T09:00:00.000000Z', null],
    ['updated', 'All', null, '2026-12-01T09:00:00.000000Z', null],
    ['updated', 'All', null, '2026-12-01T09:00:00.000000Z', null],
    ['cancelled', 'Later', null, '2026-12-06T09:00:00.000000Z', null],
  ])
  t.is(events[0]?.subject.id, own.id)
  t.deepEqual(
    events.slice(2).map(({ subject }) => subject.id),
    [id, later.id, id, id, later.id],
  )
})

test('listed events: a booking, its answers and its end are told of the visitor', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w, { settings: { booking: { enabled: true, min_notice: 0 } } })
  const after = await lastSeq(w)
  const page = `/cal/${w.org.id}/book/${calendar.key}`
  const wish = { start: '2026-12-01T09:00:00Z', name: 'Vera', email: 'vera@example.com' }
  const key = { 'idempotency-key': 'once' }
  const { data: booked } = await w.visitor.post(page, wish, { ...key, ...fromAnywhere() })
  t.is((await w.visitor.post(page, wish, { ...key, ...fromAnywhere() })).status, 201)
  t.is((await w.visitor.post(page, wish, fromAnywhere())).body.error.code, 'SLOT_TAKEN')
  const link = `/cal/${w.org.id}/rsvp/${booked.token}`
  for (const status of ['accepted', 'tentative', 'tentative', 'declined', 'accepted'])
    t.is((await w.visitor.post(link, { status }, fromAnywhere())).status, 200)
  const events = await told(w, after)
  t.deepEqual(
    brief(events, 'guest').map(([name, title, guest]) => [name, title, guest && (guest as { status: string }).status]),
    [
      ['created', 'Rooms: Vera', undefined],
      ['booked', 'Rooms: Vera', undefined],
      ['answered', 'Rooms: Vera', 'tentative'],
      ['answered', 'Rooms: Vera', 'declined'],
      ['cancelled', 'Rooms: Vera', undefined],
    ],
  )
  const { id } = events[0]?.subject ?? {}
  const { attendees } = (await w.org.owner.get(at(w, `/events/${id}`))).data
  for (const { actor, cause, subject } of events) {
    t.deepEqual(actor, { id: null, type: 'anonymous' })
    t.deepEqual(cause, { kind: 'request', id: null })
    t.deepEqual(subject, { calendar: calendar.id, id })
  }
  t.is(events[2]?.data.guest.id, attendees[0].id)
  t.notRegex(JSON.stringify(events), /vera@example/)
})

test('listed events: the answer of a member is told once for each change', async (t) => {
  const w = await shared()
  const [guest, other] = [await createMember(w, w.org), await createMember(w, w.org)]
  const { id } = await makeEvent(t, w, { attendees: [{ user_id: guest.id }] })
  const after = await lastSeq(w)
  const answer = (status: string, { client } = guest) => client.post(at(w, `/events/${id}/rsvp`), { status })
  for (const status of ['accepted', 'accepted', 'needs_action']) t.is((await answer(status)).status, 200)
  t.is((await answer('accepted', other)).status, 404)
  t.is((await w.org.owner.patch(at(w, `/events/${id}`), { status: 'cancelled' })).status, 200)
  t.is((await answer('declined')).status, 200)
  const events = await told(w, after, guest.client)
  t.deepEqual(
    events.map(({ type, actor, data }) => [type, actor.id, data.guest?.status]),
    [
      ['calendar.event.answered', guest.id, 'accepted'],
      ['calendar.event.answered', guest.id, 'needs_action'],
      ['calendar.event.cancelled', w.org.ownerId, undefined],
    ],
  )
  t.deepEqual(await told(w, after, other.client), [])
})

test('listed events: an import tells each UID once, also of events that are over, which start no flow', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const guest = await createMember(w, w.org)
  await createFlow(t, w.org, {
    enabled: true,
    ...chain(
      ['t', 'trigger.calendar_event', { event: 'created' }],
      ['a', 'action.create_record', { object_type: 'locations', values: { name: '{{trigger.calendar_event.title}}' } }],
    ),
  })
  const after = await lastSeq(w)
  const event = (uid: string, day: string, title: string, ...more: readonly string[]) =>
    ['BEGIN:VEVENT', `UID:${uid}`, `DTSTART:${day}T090000Z`, `SUMMARY:${title}`, ...more, 'END:VEVENT'].join('\r\n')
  const email = await readEmail(w.db, guest.id)
  const files = [
    [event('past', '20260301', 'Past'), event('next', '20261201', 'Next', `ATTENDEE;PARTSTAT=ACCEPTED:mailto:${email}`)],
    [event('next', '20261202', 'Moved', `ATTENDEE:mailto:${email}`)],
    ['METHOD:CANCEL', event('past', '20260301', 'Past', 'STATUS:CANCELLED'), event('nothing', '20261201', 'Unknown')],
  ]
  for (const lines of files) t.is((await importFile(w, calendar.id, ...lines)).status, 200)
  await w.drain()
  const events = await told(w, after)
  t.deepEqual(brief(events), [
    ['created', 'Past'],
    ['created', 'Next'],
    ['updated', 'Moved'],
    ['cancelled', 'Past'],
  ])
  t.true(events.every(({ cause }) => cause.kind === 'import' && cause.id !== null))
  t.deepEqual(brief(await told(w, after, guest.client)), [
    ['created', 'Next'],
    ['updated', 'Moved'],
  ])
  const { data: records } = await w.org.owner.get(`${w.org.path}/records/locations`)
  t.deepEqual(
    records.records.map(({ values }: { values: { name: string } }) => values.name),
    ['Next'],
  )
})

test('listed events: a function and a flow are the cause of what they put into a calendar', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const after = await lastSeq(w)
  const made = `{ title: 'By function', start: '2026-12-01T09:00:00Z', calendar_id: '${calendar.id}' }`
  const { id: functionId } = await createFunction(t, w.org, handlerOf(`return sdk.calendar.createEvent(${made})`))
  await invoke(t, w.org, functionId)
  const [run] = (await w.org.owner.get(`${w.org.path}/functions/${functionId}/runs`)).data.runs
  const flow = await createFlow(t, w.org, {
    enabled: true,
    ...chain(byHand, ['e', 'action.create_event', { calendar_key: calendar.key, title: 'By flow', start: '2026-12-02T09:00:00Z' }]),
  })
  const runId = await start(t, w.org, flow.id)
  await ended(w.org, flow.id, runId)
  const events = await told(w, after)
  t.deepEqual(
    events.map(({ data, cause }) => [data.title, cause]),
    [
      ['By function', { kind: 'function', id: run.id }],
      ['By flow', { kind: 'flow', id: runId }],
    ],
  )
})

test('listed events: what is refused or rolled back is not told', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w, { settings: { no_overlap: true } })
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id })
  const after = await lastSeq(w)
  const body = { title: 'Again', start: '2026-12-01T09:30:00Z', calendar_id: calendar.id }
  t.is((await w.org.owner.post(at(w, '/events'), body)).status, 409)
  t.is((await w.org.owner.patch(at(w, `/events/${id}`), { end: 'nonsense' })).status, 400)
  const event = ['BEGIN:VEVENT', 'UID:a', 'DTSTART:20261201T090000Z', 'DURATION:PT1H', 'SUMMARY:Clash', 'END:VEVENT']
  t.like((await importFile(w, calendar.id, ...event)).data, { created: 0, skipped: 1 })
  const scope = await scopeOf(w, w.org)
  const failing = scope.db.transaction(async (tx) => {
    await createEvent({ ...scope, db: tx }, { title: 'Gone', start: '2026-12-03T09:00:00Z', calendar_id: calendar.id })
    throw new Error('no')
  })
  await t.throwsAsync(failing, { message: 'no' })
  t.deepEqual(await told(w, after), [])
})

test('listed events: new time zone data move events by the platform, and start no flow', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w, { timezone: 'Asia/Tbilisi' })
  const flow = await createFlow(t, w.org, { enabled: true, ...chain(['t', 'trigger.calendar_event', { event: 'updated' }]) })
  await makeEvent(t, w, { calendar_id: calendar.id, recurrence: 'FREQ=DAILY;COUNT=3' })
  const after = await lastSeq(w)
  await ageZone(w.db, 'Asia/Tbilisi')
  await runMaintenanceTask(w, 'times by new time zone data')
  const events = await told(w, after)
  t.deepEqual(brief(events, 'start'), [['updated', 'Review', '2026-12-01T09:00:00.000000Z']])
  t.deepEqual(events[0]?.actor, { id: null, type: 'system' })
  t.deepEqual(events[0]?.cause, { kind: 'system', id: null })
  await w.drain()
  t.deepEqual((await w.org.owner.get(`${w.org.path}/flows/runs?flow=${flow.id}`)).data.runs, [])
})

/** Deletes a calendar and gives what its readers see of that. */
async function deleteCalendar(t: ExecutionContext, w: World, id: string, client = w.org.owner): Promise<number> {
  const after = await lastSeq(w)
  t.is((await client.delete(at(w, `/calendars/${id}`))).status, 200)
  return after
}

test('listed events: the events of a deleted calendar are cancelled, for its owner and for roles on its key', async (t) => {
  const w = await shared()
  const rule = (action: string, key: string) => [{ effect: 'allow', actions: [action], resources: [key] }]
  const { id, key } = await makeCalendar(t, w, { visibility: 'read' })
  const make = (more: object) => makeEvent(t, w, { calendar_id: id, ...more })
  await make({ title: 'One' })
  const { id: series } = await make({ title: 'Many', start: '2026-12-02', recurrence: 'FREQ=DAILY;COUNT=5' })
  const nth = (day: number) => at(w, `/events/${series}?scope=this&occurrence=2026-12-0${day}`)
  t.is((await w.org.owner.delete(nth(3))).status, 200)
  t.is((await w.org.owner.patch(nth(4), { title: 'Own' })).status, 200)
  await make({ title: 'Off', status: 'cancelled' })
  await make({ title: 'Secret', visibility: 'private' })
  const [reader, writer] = [
    await createMember(w, w.org, rule('calendar:read', key)),
    await createMember(w, w.org, rule('calendar:write', key)),
  ]
  const [nobody, other] = [await createMember(w, w.org), await createMember(w, w.org, rule('calendar:manage', 'else'))]
  const after = await deleteCalendar(t, w, id)
  t.deepEqual(brief(await told(w, after, writer.client), 'start', 'end', 'all_day', 'status', 'series_id', 'original_start'), [
    ['cancelled', 'One', '2026-12-01T09:00:00.000000Z', '2026-12-01T10:00:00.000000Z', false, 'cancelled', null, null],
    ['cancelled', 'Many', '2026-12-02', '2026-12-03', true, 'cancelled', null, null],
    ['cancelled', 'Secret', '2026-12-01T09:00:00.000000Z', '2026-12-01T10:00:00.000000Z', false, 'cancelled', null, null],
  ])
  t.deepEqual(
    (await told(w, after, reader.client)).map(({ data, actor }) => [data.title, actor.id]),
    [
      ['One', w.org.ownerId],
      ['Many', w.org.ownerId],
      [undefined, null],
    ],
  )
  for (const { client } of [nobody, other]) t.deepEqual(await told(w, after, client), [])
  const own = await makeCalendar(t, w, { kind: 'personal', key: undefined }, nobody.client)
  await makeEvent(t, w, { calendar_id: own.id, title: 'Own' }, nobody.client)
  const later = await deleteCalendar(t, w, own.id, nobody.client)
  t.deepEqual(brief(await told(w, later, nobody.client)), [['cancelled', 'Own']])
  for (const client of [w.org.owner, writer.client]) t.deepEqual(await told(w, later, client), [])
})
