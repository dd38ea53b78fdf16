import test, { type ExecutionContext } from 'ava'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Client } from '#test/support/client.ts'
import { type Caller, createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-11-25T08:00:00Z' })

/** How much of an event a viewer sees: nothing, times alone, or everything. */
type Shown = 'none' | 'busy' | 'details'

/** What each viewer may see of an open event and of a private one (docs/contract/calendar.md#event-details). */
const viewers: Readonly<Record<string, readonly [open: Shown, secret: Shown]>> = {
  nobody: ['none', 'none'],
  'share busy': ['busy', 'busy'],
  'share read': ['details', 'busy'],
  'share write': ['details', 'details'],
  'share manage': ['details', 'details'],
  'role read': ['details', 'busy'],
  'role write': ['details', 'details'],
  'role manage': ['details', 'details'],
  'key nothing': ['none', 'none'],
  'key read': ['details', 'busy'],
  'key write': ['details', 'details'],
  guest: ['details', 'details'],
}

async function share(w: World, calendarId: string, { id }: Caller, level: string): Promise<void> {
  const email = await readEmail(w.db, id)
  const { status, text } = await w.org.owner.post(at(w, `/calendars/${calendarId}/shares`), { email, level })
  if (status >= 300) throw new Error(text)
}

/** Creates a viewer with the access that its name describes. */
async function makeViewer(w: World, calendar: { readonly id: string; readonly key: string }, name: string): Promise<Caller> {
  const [kind, level] = name.split(' ')
  const rules = [{ effect: 'allow', actions: [`calendar:${level}`], resources: [calendar.key] }]
  if (kind === 'key') return createService(w, w.org, level === 'nothing' ? [] : rules)
  const member = await createMember(w, w.org, kind === 'role' ? rules : [], name)
  if (kind === 'share') await share(w, calendar.id, member, level ?? '')
  return member
}

const told = async (w: World, after: number, client: Client): Promise<Seen[]> =>
  (await readAll(w, client, after)).filter(({ type }) => type.startsWith('calendar.'))

const timeKeys = ['start', 'end', 'all_day']

/** How much an event shows; fails for anything between times alone and details. */
function shownBy(t: ExecutionContext, { actor, cause, data, subject }: Seen): Shown {
  t.deepEqual(Object.keys(subject).sort(), ['calendar', 'id'])
  if ('title' in data) return 'details'
  t.deepEqual(Object.keys(data), timeKeys)
  t.deepEqual(actor, { id: null, type: 'system' })
  t.deepEqual(cause, { kind: 'system', id: null })
  return 'busy'
}

const allTypes = ['created', 'booked', 'updated', 'answered', 'cancelled']
const nameOf = ({ type }: Seen) => type.split('.').at(-1) ?? ''

/** Words that stand in what nobody reads in a list of events. */
const planted = /planted words|planted place|planted@example/

test('listed event masks: every viewer sees of each event what its access to the calendar gives, and no more', async (t) => {
  const w = await shared()
  const booking = { enabled: true, min_notice: 0 }
  const calendar = await makeCalendar(t, w, { settings: { booking } })
  const callers = new Map<string, Caller>()
  for (const name of Object.keys(viewers)) callers.set(name, await makeViewer(w, calendar, name))
  const author = await makeViewer(w, calendar, 'share write')
  const after = await lastSeq(w)
  const attendees = [{ user_id: callers.get('guest')?.id }, { email: 'planted@example.com', name: 'Planted Guest' }]
  const words = { description: 'planted words', location: 'planted place' }
  const ids: string[] = []
  for (const more of [{ title: 'Open plan' }, { title: 'Secret plan', visibility: 'private' }]) {
    const { id } = await makeEvent(t, w, { calendar_id: calendar.id, attendees, ...words, ...more }, author.client)
    const path = at(w, `/events/${id}`)
    t.is((await callers.get('guest')?.client.post(`${path}/rsvp`, { status: 'tentative' }))?.status, 200)
    t.is((await author.client.patch(path, { title: `${more.title} again` })).status, 200)
    t.is((await author.client.patch(path, { status: 'cancelled' })).status, 200)
    ids.push(id)
  }
  const wish = { start: '2026-12-01T11:00:00Z', name: 'Planted Booker', email: 'planted@example.com', notes: 'planted words' }
  t.is((await w.visitor.post(`/cal/${w.org.id}/book/${calendar.key}`, wish, fromAnywhere())).status, 201)
  const whole = await told(w, after, author.client)
  t.deepEqual([...new Set(whole.map(nameOf))].sort(), [...allTypes].sort())
  t.is(whole.length, 10)
  for (const [name, [open, secret]] of Object.entries(viewers)) {
    const events = await told(w, after, callers.get(name)?.client as Client)
    const text = JSON.stringify(events)
    t.notRegex(text, planted, name)
    if (open !== 'details') t.notRegex(text, /plan|Planted|Booker/, name)
    if (secret !== 'details') t.notRegex(text, /Secret/, name)
    const of = (id: string | undefined) => events.filter(({ subject }) => subject.id === id)
    for (const [index, shown] of [open, secret].entries()) {
      const names = of(ids[index]).map((event) => `${nameOf(event)} ${shownBy(t, event)}`)
      const expected = ['created', 'answered', 'updated', 'cancelled'].map((one) => `${one} ${shown}`)
      t.deepEqual(names, shown === 'none' ? [] : expected, `${name}, ${index}`)
    }
    const booked = events.filter(({ subject }) => !ids.includes(subject.id ?? ''))
    const shown = name === 'guest' ? 'none' : open
    t.deepEqual(
      booked.map((event) => `${nameOf(event)} ${shownBy(t, event)}`),
      shown === 'none' ? [] : [`created ${shown}`, `booked ${shown}`],
      name,
    )
  }
})

test('listed event masks: nobody but the owner and those it shares with sees a personal calendar, not the workspace’s owner', async (t) => {
  const w = await shared()
  const [person, reader, admin] = [
    await createMember(w, w.org),
    await createMember(w, w.org),
    await createMember(w, w.org, [{ effect: 'allow', actions: ['*'], resources: ['*'] }]),
  ]
  const after = await lastSeq(w)
  const { calendar_id } = await makeEvent(t, w, { title: 'Own' }, person.client)
  const share = async (level: string) =>
    t.true(
      (await person.client.post(at(w, `/calendars/${calendar_id}/shares`), { email: await readEmail(w.db, reader.id), level })).status <
        300,
    )
  const seen = async (client: Client) => (await told(w, after, client)).map((event) => `${nameOf(event)} ${shownBy(t, event)}`)
  t.deepEqual(await seen(person.client), ['created details'])
  for (const client of [w.org.owner, admin.client, reader.client]) t.deepEqual(await seen(client), [])
  await share('busy')
  t.deepEqual(await seen(reader.client), ['created busy'])
  await share('read')
  t.deepEqual(await seen(reader.client), ['created details'])
  t.is((await person.client.patch(at(w, `/calendars/${calendar_id}`), { visibility: 'busy' })).status, 200)
  t.deepEqual(await seen(admin.client), ['created busy'])
})

test('listed event masks: an event that became private, or moved, hides what it was before, also once it is deleted', async (t) => {
  const w = await shared()
  const [calendar, closed] = [await makeCalendar(t, w, { visibility: 'read' }), await makeCalendar(t, w)]
  const reader = await createMember(w, w.org)
  const after = await lastSeq(w)
  const seen = async () => (await told(w, after, reader.client)).map((event) => `${nameOf(event)} ${event.data.title ?? shownBy(t, event)}`)
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id, title: 'Surgery' })
  const change = async (body: object) => t.is((await w.org.owner.patch(at(w, `/events/${id}`), body)).status, 200)
  t.deepEqual(await seen(), ['created Surgery'])
  await change({ visibility: 'private' })
  t.deepEqual(await seen(), ['created busy', 'updated busy'])
  await change({ title: 'Meeting', visibility: 'default' })
  t.deepEqual(await seen(), ['created Surgery', 'updated busy', 'updated Meeting'])
  await change({ calendar_id: closed.id })
  t.deepEqual(await seen(), [])
  await change({ calendar_id: calendar.id, visibility: 'private' })
  t.is((await w.org.owner.delete(at(w, `/events/${id}`))).status, 200)
  t.deepEqual(await seen(), ['created busy', 'updated busy', 'updated busy', 'updated busy', 'cancelled busy'])
})

test('listed event masks: a deleted occurrence is as private as its series has become', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w, { visibility: 'read' })
  const [reader, guest] = [await createMember(w, w.org), await createMember(w, w.org)]
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id, title: 'Surgery', recurrence: 'FREQ=DAILY;COUNT=5' })
  const nth = at(w, `/events/${id}?scope=this&occurrence=2026-12-02T09:00:00Z`)
  const after = await lastSeq(w)
  t.is((await w.org.owner.patch(nth, { attendees: [{ user_id: guest.id }] })).status, 200)
  t.is((await w.org.owner.delete(nth)).status, 200)
  const seen = async ({ client }: Caller) => (await told(w, after, client)).map((event) => event.data.title ?? shownBy(t, event))
  t.deepEqual(await seen(reader), ['Surgery', 'Surgery'])
  t.is((await w.org.owner.patch(at(w, `/events/${id}`), { visibility: 'private' })).status, 200)
  t.deepEqual(await seen(reader), ['busy', 'busy', 'busy'])
  t.deepEqual(await seen(guest), ['Surgery', 'Surgery', 'busy'])
})

test('listed event masks: a guest sees an event while it is invited, and nobody sees any while the app is off', async (t) => {
  const w = await shared()
  const calendar = await makeCalendar(t, w)
  const [early, late] = [await createMember(w, w.org), await createMember(w, w.org)]
  const after = await lastSeq(w)
  const { id } = await makeEvent(t, w, { calendar_id: calendar.id, title: 'First', attendees: [{ user_id: early.id }] })
  const seen = async ({ client }: Pick<Caller, 'client'>) => (await told(w, after, client)).map(({ data }) => data.title)
  t.deepEqual([await seen(early), await seen(late)], [['First'], []])
  await w.org.owner.patch(at(w, `/events/${id}`), { title: 'Second', attendees: [{ user_id: late.id }] })
  t.deepEqual([await seen(early), await seen(late)], [[], ['Second']])
  await w.org.owner.patch(w.org.path, { apps: { calendar: false } })
  for (const viewer of [late, { client: w.org.owner }]) t.deepEqual(await seen(viewer), [])
  await w.org.owner.patch(w.org.path, { apps: { calendar: true } })
  t.deepEqual(await seen({ client: w.org.owner }), ['First', 'Second'])
})
