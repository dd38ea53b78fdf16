import test from 'ava'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('forbidden: the error names the access to a calendar that is needed', async (t) => {
  const w = await fresh()
  const calendar = await makeCalendar(t, w, { key: 'rooms' })
  const event = await makeEvent(t, w, { calendar_id: calendar.id })
  const allow = [{ effect: 'allow' as const, actions: ['calendar:read'], resources: ['rooms'] }]
  const [member, key] = [await createMember(w, w.org, allow), await createService(w, w.org, allow)]
  const [one, all] = [at(w, `/events/${event.id}`), at(w, `/calendars/${calendar.id}`)]
  for (const { client } of [member, key]) {
    for (const [call, permission, level] of [
      [() => client.post(at(w, '/events'), { calendar_id: calendar.id, title: 'A', start: '2026-12-01' }), 'calendar:write', 'write'],
      [() => client.patch(one, { title: 'A' }), 'calendar:write', 'write'],
      [() => client.delete(one), 'calendar:write', 'write'],
      [() => client.patch(all, { name: 'A' }), 'calendar:manage', 'manage'],
      [() => client.post(`${all}/feed`, { enabled: true }), 'calendar:manage', 'manage'],
      [() => client.get(`${all}/shares`), 'calendar:manage', 'manage'],
      [() => client.delete(all), 'calendar:manage', 'manage'],
    ] as const) {
      const { status, body } = await call()
      t.like({ status, ...body.error }, { status: 403, code: 'FORBIDDEN' })
      t.is(body.error.message, `Needs ${permission} on rooms, or a share of the calendar rooms with level ${level}`)
    }
  }
})

test('forbidden: the error for a personal calendar names a share, since no permission gives access', async (t) => {
  const w = await fresh()
  const { client, id } = await createMember(w, w.org, [{ effect: 'allow', actions: ['*'], resources: ['*'] }])
  const email = await readEmail(w.db, id)
  const calendar = await makeCalendar(t, w, { kind: 'personal', key: 'mine' })
  t.is((await w.org.owner.post(at(w, `/calendars/${calendar.id}/shares`), { email, level: 'read' })).status, 201)
  const { status, body } = await client.patch(at(w, `/calendars/${calendar.id}`), { name: 'A' })
  t.is(status, 403)
  t.is(body.error.message, 'Needs a share of the calendar mine with level manage')
})

test('forbidden: a deny rule holds against a higher permission and a share, not against visibility', async (t) => {
  const w = await fresh()
  const calendar = await makeCalendar(t, w, { key: `d-${crypto.randomUUID().slice(0, 8)}` })
  const event = await makeEvent(t, w, { calendar_id: calendar.id, title: 'Plan' })
  const resources = [calendar.key]
  const create = { calendar_id: calendar.id, title: 'A', start: '2026-12-02T09:00:00Z' }
  const [one, all] = [at(w, `/events/${event.id}`), at(w, `/calendars/${calendar.id}`)]
  const window = 'from=2026-12-01&to=2026-12-01'

  const denyWrite = [
    { effect: 'allow' as const, actions: ['calendar:manage', 'calendar:read', 'calendar:write'] },
    { effect: 'deny' as const, actions: ['calendar:write'], resources },
  ]
  for (const { client } of [await createMember(w, w.org, denyWrite), await createService(w, w.org, denyWrite)]) {
    t.is((await client.post(at(w, '/events'), create)).status, 403)
    t.is((await client.patch(one, { title: 'B' })).status, 403)
    t.is((await client.delete(one)).status, 403)
    t.like((await client.get(one)).data, { title: 'Plan', can_edit: false })
    t.like((await client.patch(all, { color: '#112233' })).data, { access: 'read', color: '#112233' })
  }

  for (const allowed of ['calendar:manage', 'calendar:write']) {
    const { client, id } = await createMember(w, w.org, [
      { effect: 'allow', actions: [allowed], resources },
      { effect: 'deny', actions: ['calendar:read'], resources },
    ])
    const list = async () => (await client.get(at(w, `/events?${window}&calendars=${calendar.id}`))).data.events
    t.like(await list(), [{ title: 'Busy', details: false }], allowed)
    t.is((await client.get(one)).status, 404, allowed)
    t.is((await client.get(`${all}/export`)).status, 403, allowed)
    t.is((await client.get(all)).data.access, 'busy', allowed)
    await w.org.owner.post(`${all}/shares`, { email: await readEmail(w.db, id), level: 'read' })
    t.like(await list(), [{ title: 'Busy', details: false }], allowed)
    // Visibility is a floor for every member.
    await w.org.owner.patch(all, { visibility: 'read' })
    t.like(await list(), [{ title: 'Plan', details: true }], allowed)
    await w.org.owner.patch(all, { visibility: calendar.visibility })
  }
})
