import test, { type ExecutionContext } from 'ava'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { readCauses } from '#test/support/audit.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

/** A calendar of visits, which have a start, an end and a name. */
async function visits(t: ExecutionContext, w: World, type: 'date' | 'datetime', settings: object = {}) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'visits', label: 'Visits' })
  for (const [key, kind] of [
    ['begins', type],
    ['ends', type],
    ['who', 'string'],
  ]) {
    await owner.post(`${path}/fields`, { entity_type: 'visits', key, label: key, type: kind })
  }
  const source = { type_key: 'visits', start_field: 'begins', end_field: 'ends', title_field: 'who', ...settings }
  const calendar = await makeCalendar(t, w, { key: 'visits', kind: 'records', settings: { source } })
  const make = async (values: object): Promise<string> => (await owner.post(`${path}/records/visits`, { values })).data.id
  return { calendar, make }
}

type Listed = Record<'event_id' | 'title' | 'start' | 'end', string> & { readonly details: boolean; readonly all_day: boolean }
const list = async (w: World, calendarId: string, client = w.org.owner, window = 'from=2026-12-01&to=2026-12-31'): Promise<Listed[]> =>
  (await client.get(at(w, `/events?${window}&calendars=${calendarId}`))).data.events

test('record calendars: a calendar shows the current records, with dates that include the last day', async (t) => {
  const w = await fresh()
  const { calendar, make } = await visits(t, w, 'date')
  t.like(calendar, { kind: 'records', booking_url: '' })
  const id = await make({ begins: '2026-12-05', ends: '2026-12-07', who: 'Ann' })
  await make({ begins: '2026-11-20', ends: '2026-12-01', who: 'Before' })
  await make({ begins: '2026-11-20', ends: '2026-11-30', who: 'Over' })
  await make({ who: 'Never' })
  const seen = await list(w, calendar.id)
  t.deepEqual(
    seen.map(({ title, start, end }) => [title, start, end]),
    [
      ['Before', '2026-11-20', '2026-12-02'],
      ['Ann', '2026-12-05', '2026-12-08'],
    ],
  )
  t.like(seen[1], { event_id: id, series_id: null, all_day: true, recurring: false, details: true, calendar_id: calendar.id })
  t.is((await w.org.owner.get(at(w, `/events/${id}`))).status, 404)
  const { data } = await w.org.owner.get(at(w, `/freebusy?from=2026-12-05&to=2026-12-05&calendars=${calendar.id}`))
  t.is(data.calendars[0].busy.length, 1)
})

test('record calendars: a caller may move a record if it may write the calendar and the record and see its fields', async (t) => {
  const w = await fresh()
  const { calendar, make } = await visits(t, w, 'datetime')
  const id = await make({ begins: '2026-12-05T09:00:00Z', ends: '2026-12-05T10:00:00Z', who: 'Ann' })
  const path = at(w, `/calendars/${calendar.id}/records/${id}`)
  const backwards = { start: '2026-12-06T11:00:00Z', end: '2026-12-06T10:59:00Z' }
  t.is((await w.org.owner.patch(path, backwards)).status, 400, 'an end before the start')
  t.deepEqual((await w.org.owner.patch(path, { start: '2026-12-06T11:00:00+01:00' })).data, { moved: true })
  t.like((await w.org.owner.get(`${w.org.path}/records/visits/${id}`)).data.values, {
    begins: '2026-12-06T10:00:00.000000Z',
    ends: '2026-12-05T10:00:00.000000Z',
  })
  t.deepEqual((await w.org.owner.patch(path, { start: '2026-12-07', end: '2026-12-08' })).data, { moved: true })
  t.deepEqual((await readCauses(w.org, `record_id=${id}`)).at(-1), ['updated visits: request', null])
  for (const body of [{}, { start: 'soon' }, { start: '2026-12-07T09:00:00' }, { start: '2026-12-07', end: '' }])
    t.is((await w.org.owner.patch(path, body)).status, 400, JSON.stringify(body))
  const rule = (actions: string[], more: object = {}) => ({ effect: 'allow', actions, resources: ['visits'], ...more })
  const cases: readonly (readonly [string, readonly object[], number])[] = [
    ['nothing', [], 404],
    ['the calendar alone', [rule(['calendar:write'])], 404],
    ['the record alone', [rule(['records:read', 'records:update'])], 404],
    ['to read the calendar', [rule(['calendar:read', 'records:read', 'records:update'])], 403],
    ['to read the record', [rule(['calendar:write', 'records:read'])], 403],
    ['not the start', [rule(['calendar:write', 'records:update']), rule(['records:read'], { fields: { deny: ['begins'] } })], 404],
    ['not the end', [rule(['calendar:write', 'records:update']), rule(['records:read'], { fields: { deny: ['ends'] } })], 403],
    ['all of it', [rule(['calendar:write', 'records:read', 'records:update'])], 200],
  ]
  for (const [name, policy, status] of cases) {
    const member = await createMember(w, w.org, policy)
    t.is((await member.client.patch(path, { start: '2026-12-09T09:00:00Z', end: '2026-12-09T10:00:00Z' })).status, status, name)
  }
  t.is((await w.org.owner.patch(at(w, `/calendars/${calendar.id}/records/${calendar.id}`), { start: '2026-12-09' })).status, 404)
  const team = await makeCalendar(t, w)
  t.is((await w.org.owner.patch(at(w, `/calendars/${team.id}/records/${id}`), { start: '2026-12-09' })).status, 404)
})

test('record calendars: each viewer sees the records that it may read, and a record with a hidden title as busy', async (t) => {
  const w = await fresh()
  const { calendar, make } = await visits(t, w, 'datetime')
  await make({ begins: '2026-12-05T09:00:00Z', who: 'Secret Ann' })
  await make({ begins: '2026-12-06T09:00:00Z', who: 'Secret Bob' })
  const rule = (actions: string[], more: object = {}) => ({ effect: 'allow', actions, resources: ['visits'], ...more })
  const own = { condition: { 'resource.who': { eq: 'Secret Ann' } } }
  const cases: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    ['all', [rule(['calendar:read', 'records:read'])], ['Secret Ann', 'Secret Bob']],
    ['one record', [rule(['calendar:read']), rule(['records:read'], own)], ['Secret Ann']],
    ['no titles', [rule(['calendar:read']), rule(['records:read'], { fields: { deny: ['who'] } })], ['Busy', 'Busy']],
    ['no starts', [rule(['calendar:read']), rule(['records:read'], { fields: { deny: ['begins'] } })], []],
    ['no records', [rule(['calendar:read'])], []],
  ]
  for (const [name, policy, titles] of cases) {
    const member = await createMember(w, w.org, policy)
    const seen = await list(w, calendar.id, member.client)
    t.deepEqual(
      seen.map(({ title }) => title),
      [...titles],
      name,
    )
    t.true(
      seen.every(({ title, details }) => details === (title !== 'Busy')),
      name,
    )
  }
  const stranger = await createMember(w, w.org, [rule(['records:read'])])
  t.is((await stranger.client.get(at(w, `/calendars/${calendar.id}`))).status, 404)
})

test('record calendars: a records calendar takes no events, has no feed, no page and no file, and keeps its source', async (t) => {
  const w = await fresh()
  const { calendar } = await visits(t, w, 'date')
  const path = at(w, `/calendars/${calendar.id}`)
  const { owner } = w.org
  const refused = [
    await owner.post(at(w, '/events'), { calendar_id: calendar.id, title: 'A', start: '2026-12-01' }),
    await owner.post(`${path}/feed`, { enabled: true }),
    await owner.get(`${path}/export`),
    await owner.send('POST', `${path}/import`, 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n', { 'content-type': 'text/calendar' }),
    await owner.patch(path, { settings: { booking: { enabled: true } } }),
    await owner.patch(path, { settings: { source: null } }),
    await owner.patch(path, { settings: { source: { type_key: 'visits', start_field: 'who' } } }),
    await owner.patch(path, { settings: { source: { type_key: 'nothing', start_field: 'begins' } } }),
  ]
  t.deepEqual(
    refused.map(({ status }) => status),
    refused.map(() => 400),
  )
  t.is((await w.visitor.get(`/cal/${w.org.id}/book/visits`)).status, 404)
  const changed = await owner.patch(path, { settings: { source: { type_key: 'visits', start_field: 'ends' } } })
  t.deepEqual(changed.data.settings.source, { type_key: 'visits', start_field: 'ends' }, 'replaced whole')
})
