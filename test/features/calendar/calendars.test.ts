import test from 'ava'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent, occurrences } from '#test/features/calendar/support.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { addMember } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('calendars: a person’s calendar and the team’s calendar are created when they are first needed', async (t) => {
  const w = await fresh()
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['calendar:read'], resources: ['team'] }])
  const { data } = await member.client.get(at(w, '/calendars'))
  t.deepEqual(
    data.map(({ kind, primary, access, key }: Record<string, unknown>) => [kind, primary, access, key === 'team']),
    [
      ['personal', true, 'owner', false],
      ['org', false, 'read', true],
    ],
  )
  t.deepEqual((await member.client.get(at(w, '/calendars'))).data, data)
  const service = await createService(w, w.org, [{ effect: 'allow', actions: ['calendar:write'] }])
  t.deepEqual(
    (await service.client.get(at(w, '/calendars'))).data.map(({ key, access }: Record<string, unknown>) => [key, access]),
    [['team', 'write']],
  )
})

test('calendars: a calendar is created, read, changed and deleted by callers with the permission', async (t) => {
  const w = await fresh()
  const made = await makeCalendar(t, w, { key: 'rooms', timezone: 'Europe/Berlin', settings: { no_overlap: true } })
  t.like(made, { key: 'rooms', kind: 'org', access: 'manage', visibility: 'none', settings: { no_overlap: true } })
  t.is(made.booking_url, `${w.config.publicUrl}/book/${w.org.id}/rooms`)
  t.false('feed_url' in made)
  const path = at(w, `/calendars/${made.id}`)
  const changed = await w.org.owner.patch(path, { name: 'Halls', key: 'rooms', settings: { default_reminders: [5], no_overlap: null } })
  t.like(changed.data, { name: 'Halls', key: 'rooms', settings: { default_reminders: [5] } })
  t.false('no_overlap' in changed.data.settings)
  t.is((await w.org.owner.post(at(w, '/calendars'), { key: 'rooms', kind: 'org', name: 'Again' })).body.error.code, 'KEY_TAKEN')
  const member = await createMember(w, w.org, [{ effect: 'allow', actions: ['calendar:read'], resources: ['rooms'] }])
  t.is((await member.client.get(path)).data.access, 'read')
  t.is((await member.client.patch(path, { name: 'Mine' })).status, 403)
  t.is((await member.client.delete(path)).status, 403)
  t.is((await member.client.post(at(w, '/calendars'), { key: 'mine', kind: 'org', name: 'Mine' })).status, 403)
  const nobody = await createMember(w, w.org)
  t.is((await nobody.client.get(path)).status, 404)
  t.is((await nobody.client.patch(path, { name: 'Mine' })).status, 404)
  t.deepEqual((await w.org.owner.delete(path)).data, { deleted: true })
  t.is((await w.org.owner.get(path)).status, 404)
})

const refused: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['no key', { kind: 'org', name: 'A' }, /key is required/],
  ['a short key', { key: 'a', name: 'A' }, /key must be 2 to 64/],
  ['a long key', { key: 'a'.repeat(65), name: 'A' }, /key must be 2 to 64/],
  ['capitals in the key', { key: 'Rooms', name: 'A' }, /key must be/],
  ['a reserved key', { key: 'u-rooms', name: 'A' }, /reserved/],
  ['no name', { key: 'rooms' }, /name is required/],
  ['a long description', { key: 'rooms', name: 'A', description: 'x'.repeat(1_001) }, /description must have at most 1000/],
  ['no such zone', { key: 'rooms', name: 'A', timezone: 'Mars/Base' }, /timezone must be a name of the IANA list/],
  ['an offset for a zone', { key: 'rooms', name: 'A', timezone: '+02:00' }, /timezone must be a name of the IANA list/],
  ['write as visibility', { key: 'rooms', name: 'A', visibility: 'write' }, /visibility must be one of/],
  ['six reminders', { key: 'rooms', name: 'A', settings: { default_reminders: [1, 2, 3, 4, 5, 6] } }, /settings/],
  [
    'a source on a team calendar',
    { key: 'rooms', name: 'A', settings: { source: { type_key: 'invoices', start_field: 'due_date' } } },
    /source is for/,
  ],
  ['a records calendar without a source', { key: 'rooms', kind: 'records', name: 'A' }, /source is required/],
  [
    'hours that end before they begin',
    { key: 'rooms', name: 'A', settings: { booking: { hours: { mon: [['12:00', '09:00']] } } } },
    /must end after/,
  ],
  ['hours over midnight', { key: 'rooms', name: 'A', settings: { booking: { hours: { mon: [['22:00', '02:00']] } } } }, /must end after/],
  ['a horizon of 366 days', { key: 'rooms', name: 'A', settings: { booking: { horizon_days: 366 } } }, /settings/],
]
test('calendars: an invalid calendar is refused, and the error names the field', async (t) => {
  const w = await fresh()
  for (const [name, body, message] of refused) {
    const { status, body: answer } = await w.org.owner.post(at(w, '/calendars'), { kind: 'org', ...body })
    t.is(status, 400, name)
    t.regex(answer.error.message, message, name)
  }
})

test('calendars: the limits of a calendar are exact', async (t) => {
  const w = await fresh()
  await makeCalendar(t, w, { key: 'ab', description: 'x'.repeat(1_000) })
  const hours = { mon: [['00:00', '24:00']], tue: [] }
  await makeCalendar(t, w, {
    key: 'a'.repeat(64),
    settings: { booking: { horizon_days: 365, hours }, default_reminders: [0, 1, 2, 3, 10_080] },
  })
})

test('calendars: a personal calendar is accessible only to its creator, not to any role or the workspace’s owner', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  const calendar = await makeCalendar(t, w, { kind: 'personal', key: 'ada', name: 'Ada' }, ada.client)
  t.is(calendar.access, 'owner')
  t.is((await w.org.owner.get(at(w, `/calendars/${calendar.id}`))).status, 404)
  t.is((await w.org.owner.post(at(w, '/events'), { calendar_id: calendar.id, title: 'A', start: '2026-12-01T09:00:00Z' })).status, 404)
  const service = await createService(w, w.org, [{ effect: 'allow', actions: ['*'] }])
  t.is((await service.client.get(at(w, `/calendars/${calendar.id}`))).status, 404)
  t.is((await service.client.post(at(w, '/calendars'), { kind: 'personal', name: 'Robot' })).status, 401)
  t.is((await service.client.post(at(w, '/events'), { title: 'A', start: '2026-12-01T09:00:00Z' })).status, 400)
})

test('calendars: main calendars and the team’s calendar cannot be deleted', async (t) => {
  const w = await fresh()
  const { data } = await w.org.owner.get(at(w, '/calendars'))
  for (const { id } of data) t.is((await w.org.owner.delete(at(w, `/calendars/${id}`))).status, 403)
})

test('calendars: shares give a member access, and are replaced and removed', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  const email = await readEmail(w.db, ada.id)
  const calendar = await makeCalendar(t, w)
  const path = at(w, `/calendars/${calendar.id}`)
  const shared = await w.org.owner.post(`${path}/shares`, { email: email.toUpperCase(), level: 'busy' })
  t.is(shared.status, 201)
  t.like(shared.data, { user_id: ada.id, name: 'Ada', level: 'busy', email })
  t.is((await ada.client.get(path)).data.access, 'busy')
  t.is((await ada.client.get(`${path}/shares`)).status, 403)
  const again = await w.org.owner.post(`${path}/shares`, { email, level: 'manage' })
  t.is(again.status, 200)
  t.is(again.data.id, shared.data.id)
  t.deepEqual((await ada.client.get(`${path}/shares`)).data, [again.data])
  t.is((await w.org.owner.post(`${path}/shares`, { email: 'nobody@example.com', level: 'read' })).status, 400)
  t.is((await w.org.owner.post(`${path}/shares`, { email, level: 'owner' })).status, 400)
  t.deepEqual((await w.org.owner.delete(`${path}/shares/${shared.data.id}`)).data, { deleted: true })
  t.is((await w.org.owner.delete(`${path}/shares/${shared.data.id}`)).status, 404)
  t.is((await ada.client.get(path)).status, 404)
})

test('calendars: the calendars of a member who leaves are inaccessible, and restored if the member returns within 30 days', async (t) => {
  const w = await fresh()
  const ada = await createMember(w, w.org, [], 'Ada')
  const calendar = await makeCalendar(t, w, { kind: 'personal', key: 'ada', visibility: 'read' }, ada.client)
  await makeEvent(t, w, { calendar_id: calendar.id }, ada.client)
  t.is((await w.org.owner.get(at(w, `/calendars/${calendar.id}`))).data.access, 'read')
  await w.org.owner.delete(`${w.org.path}/members/${ada.id}`)
  t.is((await w.org.owner.get(at(w, `/calendars/${calendar.id}`))).status, 404)
  await addMember(w.db, w.org.id, ada.id)
  t.is((await ada.client.get(at(w, `/calendars/${calendar.id}`))).data.access, 'owner')
  t.is((await occurrences(w, '2026-12-01', '2026-12-01', ada.client)).length, 1)
})

test('calendars: managers see the subscription link, which is new each time it is enabled, and invalid once disabled', async (t) => {
  const w = await fresh()
  const calendar = await makeCalendar(t, w, { visibility: 'read' })
  const path = at(w, `/calendars/${calendar.id}`)
  const on = await w.org.owner.post(`${path}/feed`, { enabled: true })
  t.regex(on.data.feed_url, new RegExp(`^${w.config.publicUrl}/cal/${w.org.id}/feed/[0-9A-Za-z]{43}\\.ics$`))
  t.is((await w.org.owner.get(path)).data.feed_url, on.data.feed_url)
  const reader = await createMember(w, w.org)
  t.false('feed_url' in (await reader.client.get(path)).data)
  t.is((await reader.client.post(`${path}/feed`, { enabled: true })).status, 403)
  t.not((await w.org.owner.post(`${path}/feed`, { enabled: true })).data.feed_url, on.data.feed_url)
  t.false('feed_url' in (await w.org.owner.post(`${path}/feed`, { enabled: false })).data)
})

test('calendars: everything is 404 while the calendar app is off', async (t) => {
  const w = await fresh()
  const calendar = await makeCalendar(t, w)
  await w.org.owner.patch(w.org.path, { apps: { calendar: false } })
  t.is((await w.org.owner.get(at(w, '/calendars'))).status, 404)
  t.is((await w.org.owner.get(at(w, `/calendars/${calendar.id}`))).status, 404)
})
