import test from 'ava'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { chain, createFlow, recordsOf } from '#test/features/flows/support.ts'
import { createMember } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const shared = shareWorld(test)

test('reminders: guests who accepted are reminded once, members by a notification, others by mail', async (t) => {
  let now = new Date('2026-12-01T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const ada = await createMember(w, w.org, [], 'Ada')
  const inbox = async () =>
    (await ada.client.get(`${w.org.path}/notifications`)).data.notifications.map(({ title }: { title: string }) => title.split(':')[0])
  const attendees = [{ user_id: ada.id }, { email: 'guest@example.com' }]
  await makeEvent(t, w, { attendees, reminders: [15], recurrence: 'FREQ=DAILY;COUNT=2', notify: false })
  await makeEvent(t, w, { title: 'Late', start: '2026-12-01T08:05:00Z', attendees, reminders: [30], notify: false })
  await w.drain()
  t.deepEqual(await inbox(), [])
  for (const time of ['2026-12-01T08:45:00Z', '2026-12-01T08:46:00Z']) {
    now = new Date(time)
    await w.drain()
    t.deepEqual(await inbox(), ['Review'])
  }
  now = new Date('2026-12-02T08:50:00Z')
  await w.drain()
  t.deepEqual(await inbox(), ['Review', 'Review'])
  const mails = await mailsTo(w, 'guest@example.com')
  t.deepEqual(
    mails.map(({ subject }) => subject),
    ['Reminder: Review', 'Reminder: Review'],
  )
  t.is(mails[0]?.replyTo?.[0]?.address, await readEmail(w.db, w.org.ownerId))
})

test('reminders: a flow starts once before each occurrence, with the occurrence’s current values', async (t) => {
  let now = new Date('2026-12-01T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const { owner } = w.org
  const calendar = await makeCalendar(t, w, { key: 'shifts' })
  const event = (start: string, more: object = {}) => makeEvent(t, w, { calendar_id: calendar.id, title: 'Shift', start, ...more })
  const series = await event('2026-12-01T09:00:00Z', { recurrence: 'FREQ=DAILY;COUNT=4' })
  const soon = await event('2026-12-01T08:10:00Z', { title: 'Too late' })
  const name = '{{trigger.calendar_event.title}} {{trigger.calendar_event.start}} {{trigger.calendar_event.calendar_key}}'
  const trigger = (config: object) => ['t', 'trigger.calendar_event', { event: 'starting', minutes_before: 30, ...config }] as const
  const write = ['a', 'action.create_record', { object_type: 'locations', values: { name } }] as const
  // A later listener receives events from then on.
  const flow = await createFlow(t, w.org, { enabled: true, ...chain(trigger({ calendar_key: 'shifts' }), write) })
  const elsewhere = await makeCalendar(t, w, { key: 'others' })
  await makeEvent(t, w, { calendar_id: elsewhere.id, start: '2026-12-01T09:00:00Z' })
  const heard = async (time: string) => {
    now = new Date(time)
    await w.drain()
    return (await recordsOf(w.org, 'locations')).map(({ name }) => (name as string).replace(':00.000000Z', ''))
  }
  t.deepEqual(await heard('2026-12-01T08:29:59Z'), [])
  const first = 'Shift 2026-12-01T09:00 shifts'
  t.deepEqual(await heard('2026-12-01T08:30:00Z'), [first])
  t.deepEqual(await heard('2026-12-01T08:31:00Z'), [first])
  const occurrence = (start: string) => at(w, `/events/${series.id}?scope=this&occurrence=${start}`)
  await owner.patch(occurrence('2026-12-02T09:00:00Z'), { start: '2026-12-02T12:00:00Z', title: 'Moved' })
  await owner.delete(occurrence('2026-12-03T09:00:00Z'))
  t.deepEqual(await heard('2026-12-02T11:00:00Z'), [first])
  const second = 'Moved 2026-12-02T12:00 shifts'
  t.deepEqual(await heard('2026-12-02T11:30:00Z'), [first, second])
  t.deepEqual(await heard('2026-12-03T09:30:00Z'), [first, second])
  await owner.put(`${w.org.path}/flows/${flow.id}`, { name: 'Test', enabled: false, ...chain(trigger({ calendar_key: 'shifts' }), write) })
  t.deepEqual(await heard('2026-12-04T09:30:00Z'), [first, second], 'nobody listens any more')
  t.is((await owner.get(at(w, `/events/${soon.id}`))).status, 200)
})

test('reminders: a function creates and lists events, with the rights of its caller', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const calendar = await makeCalendar(t, w)
  const body = `
    const event = await sdk.calendar.createEvent({ title: 'By function', start: '2026-12-01T09:00:00Z', calendar_id: input, notify: false })
    const { events } = await sdk.calendar.events({ from: '2026-12-01', to: '2026-12-01', calendars: input })
    return [event.source, events.map(({ title }) => title)]`
  const source = `async function handler(input) { ${body} }`
  const { id } = (await owner.post(`${path}/functions`, { name: 'Events', source })).data
  t.deepEqual((await owner.post(`${path}/functions/${id}/invoke`, { input: calendar.id })).data.result, ['function', ['By function']])
  const reader = await createMember(w, w.org, [
    { effect: 'allow', actions: ['functions:invoke'] },
    { effect: 'allow', actions: ['calendar:read'], resources: [calendar.key] },
  ])
  t.regex((await reader.client.post(`${path}/functions/${id}/invoke`, { input: calendar.id })).data.error, /Needs calendar:write on /)
  await owner.patch(path, { apps: { calendar: false } })
  t.truthy((await owner.post(`${path}/functions/${id}/invoke`, { input: calendar.id })).data.error)
})

test('reminders: a flow starts 30 days before an event that is farther ahead, and none later', async (t) => {
  let now = new Date('2026-12-01T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const calendar = await makeCalendar(t, w, { key: 'audits' })
  await makeEvent(t, w, { calendar_id: calendar.id, title: 'Audit', start: '2027-01-20T09:00:00Z' })
  const trigger = ['t', 'trigger.calendar_event', { event: 'starting', minutes_before: 43_200, calendar_key: 'audits' }] as const
  const write = ['a', 'action.create_record', { object_type: 'locations', values: { name: '{{trigger.calendar_event.title}}' } }] as const
  await createFlow(t, w.org, { enabled: true, ...chain(trigger, write) })
  await makeEvent(t, w, { calendar_id: calendar.id, title: 'Later', start: '2027-01-21T09:00:00Z' })
  const heard = async (time: string) => {
    now = new Date(time)
    await w.drain()
    return (await recordsOf(w.org, 'locations')).map(({ name }) => name)
  }
  t.deepEqual(await heard('2026-12-10T08:00:00Z'), [])
  t.deepEqual(await heard('2026-12-21T08:59:59Z'), [])
  t.deepEqual(await heard('2026-12-21T09:00:00Z'), ['Audit'])
  t.deepEqual(await heard('2026-12-22T09:00:00Z'), ['Audit', 'Later'])
  t.deepEqual(await heard('2027-01-21T09:00:00Z'), ['Audit', 'Later'])
})

test('reminders: one a week before an event is sent in time although the one before is of an event farther ahead', async (t) => {
  let now = new Date('2026-12-01T08:00:00Z')
  const w = await world({}, undefined, () => now)
  t.teardown(w.close)
  const ada = await createMember(w, w.org, [], 'Ada')
  const attendees = [{ user_id: ada.id }]
  const inbox = async (time: string) => {
    now = new Date(time)
    await w.drain()
    return (await ada.client.get(`${w.org.path}/notifications`)).data.notifications.map(
      ({ title }: { title: string }) => title.split(':')[0],
    )
  }
  // A check at the first event finds the second one within its reach, and the third one beyond it.
  await makeEvent(t, w, { title: 'First', start: '2026-12-02T08:00:00Z', attendees, reminders: [0], notify: false })
  await makeEvent(t, w, { title: 'Second', start: '2026-12-15T08:00:00Z', attendees, reminders: [0], notify: false })
  await makeEvent(t, w, { title: 'Third', start: '2026-12-18T08:00:00Z', attendees, reminders: [10_080], notify: false })
  t.deepEqual(await inbox('2026-12-02T08:00:00Z'), ['First'])
  t.deepEqual(await inbox('2026-12-08T09:00:00Z'), ['First'])
  t.deepEqual(await inbox('2026-12-11T08:00:00Z'), ['Third', 'First'])
  t.deepEqual(await inbox('2026-12-15T08:00:00Z'), ['Second', 'Third', 'First'])
})
