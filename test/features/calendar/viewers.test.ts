import test from 'ava'
import { countRecipients, readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { chain, createFlow, recordsOf } from '#test/features/flows/support.ts'
import { handlerOf } from '#test/features/functions/support.ts'
import { type Caller, createMember, createService } from '#test/support/factories.ts'
import { mailsTo } from '#test/support/mailbox.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, { TRUST_PROXY: '1' }, { at: '2026-11-30T08:00:00Z' })

/** How much of an event a viewer sees: nothing, a busy time, or everything. */
type Shown = 'none' | 'busy' | 'details'
/** Of an open event and of a private one. */
type Seen = readonly [open: Shown, secret: Shown]

const day = '2026-12-01'
const window = `from=${day}&to=${day}`
/** The expected view of the two events by their hour; anything more would be a leak. */
const events = [
  { title: 'Open plan', description: 'open words', start: `${day}T09:00:00Z` },
  { title: 'Secret plan', description: 'secret words', start: `${day}T11:00:00Z`, visibility: 'private' },
] as const

const both = (shown: Shown): Seen => [shown, shown]
const detailsOnly = ([open, secret]: Seen): Seen => [open === 'details' ? open : 'none', secret === 'details' ? secret : 'none']
const timesOnly = ([open, secret]: Seen): Seen => [open === 'none' ? open : 'busy', secret === 'none' ? secret : 'busy']

/**
 * Viewers and what each may see (docs/contract/calendar.md#event-details): levels of shares, roles and visibility, and a guest of both
 * events.
 */
const viewers: Readonly<Record<string, Seen>> = {
  nobody: both('none'),
  'share busy': both('busy'),
  'share read': ['details', 'busy'],
  'share write': both('details'),
  'share manage': both('details'),
  'role read': ['details', 'busy'],
  'role write': both('details'),
  'role manage': both('details'),
  'key read': ['details', 'busy'],
  'key write': both('details'),
  guest: both('details'),
}

interface Place {
  readonly w: World
  readonly calendarId: string
  readonly key: string
  readonly eventIds: readonly string[]
  readonly recordId: string
  readonly source: string
  /** The records of flows that the events started: the editor's id and the title that the flow got. */
  readonly ran: readonly string[]
}
type Reader = (place: Place, viewer: Caller) => Promise<Seen>

/** How much a text reveals of the two events. */
const inText = (text: string): Seen => {
  const [open, secret] = events.map(({ title, description }, index): Shown => {
    if (text.includes(title) || text.includes(description)) return 'details'
    return new RegExp(`${day.replaceAll('-', '')}T${index === 0 ? '09' : '11'}0000|${day}T${index === 0 ? '09' : '11'}:00`).test(text)
      ? 'busy'
      : 'none'
  })
  return [open ?? 'none', secret ?? 'none']
}

const textOf = async (answer: Promise<{ readonly status: number; readonly text: string }>): Promise<string> => {
  const { status, text } = await answer
  return status === 200 ? text : ''
}

/** Every channel that may reveal an event, and how much it may reveal at an access level. */
const readers: Readonly<Record<string, { readonly read: Reader; readonly tells: (seen: Seen, viewer: string) => Seen }>> = {
  'the list': {
    read: async ({ w }, { client }) => inText(await textOf(client.get(at(w, `/events?${window}`)))),
    tells: (seen) => seen,
  },
  'the list of the calendar': {
    read: async ({ w, calendarId }, { client }) =>
      inText(await textOf(client.get(at(w, `/events?${window}&calendars=${calendarId}&invites=0`)))),
    // A guest of an event sees nothing of its calendar.
    tells: (seen, viewer) => (viewer === 'guest' ? both('none') : seen),
  },
  'the events of the workspace': {
    read: async ({ w }, { client }) => inText(await textOf(client.get(`${w.org.path}/events?types=calendar.*`))),
    tells: (seen) => seen,
  },
  'an event': {
    read: async ({ w, eventIds }, { client }) => {
      const [open = '', secret = ''] = await Promise.all(eventIds.map((id) => textOf(client.get(at(w, `/events/${id}`)))))
      return [inText(open)[0], inText(secret)[1]]
    },
    tells: detailsOnly,
  },
  'a record’s events': {
    read: async ({ w, recordId }, { client }) => inText(await textOf(client.get(at(w, `/records/invoices/${recordId}/events`)))),
    tells: detailsOnly,
  },
  'the export': {
    read: async ({ w, calendarId }, { client }) => inText(await textOf(client.get(at(w, `/calendars/${calendarId}/export`)))),
    tells: (seen, viewer) => (viewer === 'guest' || viewer === 'share busy' ? both('none') : seen),
  },
  'free/busy': {
    read: async ({ w, calendarId }, { client }) => inText(await textOf(client.get(at(w, `/freebusy?${window}&calendars=${calendarId}`)))),
    tells: (seen, viewer) => (viewer === 'guest' ? both('none') : timesOnly(seen)),
  },
  'suggested times': {
    read: async ({ w, calendarId }, { client }) => {
      const asked = { calendars: [calendarId], from: day, to: day, duration: 30, timezone: 'UTC', day_start: '08:00', day_end: '13:00' }
      const { status, data } = await client.post(at(w, '/suggest'), asked)
      if (status !== 200) return both('none')
      const free = JSON.stringify(data)
      return events.map(({ start }) => (free.includes(`"start":"${start.slice(0, 13)}`) ? 'none' : 'busy')) as unknown as Seen
    },
    tells: (seen, viewer) => (viewer === 'guest' ? both('none') : timesOnly(seen)),
  },
  'answers to changes': {
    read: async ({ w, eventIds, calendarId }, { client }) => {
      const refused = await Promise.all([
        ...eventIds.map((id) => client.patch(at(w, `/events/${id}`), { end: 'nonsense' })),
        client.post(at(w, '/events'), { title: 'Mine', start: 'nonsense', calendar_id: calendarId }),
      ])
      return inText(refused.map(({ text }) => text).join())
    },
    tells: () => both('none'),
  },
  'the reasons of refused slots': {
    read: async ({ w, key }, { client }) => {
      const { data } = await client.get(`/cal/${w.org.id}/book/${key}/slots?${window}&explain=1`)
      return inText(JSON.stringify((data.refused ?? []).filter(({ reason }: { reason: string }) => reason.startsWith('busy'))))
    },
    tells: (seen, viewer) => (viewer === 'guest' || viewer === 'share busy' ? both('none') : timesOnly(seen)),
  },
  'a function’s list': {
    // Its own function: one of another reaches nothing personal for it.
    read: async ({ w, source }, { client }) => {
      const made = await client.post(`${w.org.path}/functions`, { name: 'List', source, timeout_ms: 30_000 })
      const { data } = await client.post(`${w.org.path}/functions/${made.data.id}/invoke`, {})
      return inText(JSON.stringify(data.result ?? ''))
    },
    tells: (seen) => seen,
  },
  'a flow’s trigger': {
    read: async ({ ran }, { id }) => inText(ran.filter((name) => name.startsWith(id)).join()),
    tells: detailsOnly,
  },
}

/** Creates a viewer with the access that its name describes. */
async function makeViewer(w: World, calendar: { readonly id: string; readonly key: string }, name: string): Promise<Caller> {
  const [kind, level] = name.split(' ')
  const policy = [
    { effect: 'allow', actions: ['functions:invoke', 'functions:create', 'flows:create', 'records:create', 'records:read'] },
    ...(kind === 'role' || kind === 'key' ? [{ effect: 'allow', actions: [`calendar:${level}`], resources: [calendar.key] }] : []),
  ]
  if (kind === 'key') return createService(w, w.org, policy)
  const member = await createMember(w, w.org, policy, name)
  if (kind === 'share') {
    const email = await readEmail(w.db, member.id)
    await w.org.owner.post(at(w, `/calendars/${calendar.id}/shares`), { email, level })
  }
  return member
}

test('viewers: no answer, mail or feed shows more of an event than its viewer may see', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const booking = { enabled: true, min_notice: 0, hours: { tue: [['08:00', '13:00']] } }
  const calendar = await makeCalendar(t, w, { settings: { booking } })
  const { id: recordId } = (await owner.post(`${path}/records/invoices`, { values: {} })).data
  const source = handlerOf(`return sdk.calendar.events({ from: '${day}', to: '${day}' })`)
  const callers = new Map<string, Caller>()
  for (const name of Object.keys(viewers)) {
    const viewer = await makeViewer(w, calendar, name)
    callers.set(name, viewer)
    const body = { object_type: 'locations', values: { name: `${viewer.id} {{trigger.calendar_event.title}}` } }
    const blocks = chain(['t', 'trigger.calendar_event', { event: 'created' }], ['a', 'action.create_record', body])
    await createFlow(t, w.org, { enabled: true, ...blocks }, viewer.client)
  }
  const guests = [{ user_id: callers.get('guest')?.id }, { email: 'guest@example.com' }]
  const more = { calendar_id: calendar.id, record_type: 'invoices', record_id: recordId, attendees: guests, reminders: [30] }
  const eventIds: string[] = []
  for (const event of events) eventIds.push((await makeEvent(t, w, { ...event, ...more })).id)
  await w.drain()
  const ran = (await recordsOf(w.org, 'locations')).map(({ name }) => name as string)
  const place: Place = { w, calendarId: calendar.id, key: calendar.key, eventIds, recordId, source, ran }
  for (const [reader, { read, tells }] of Object.entries(readers)) {
    const answers = await Promise.all([...callers].map(async ([name, viewer]) => [name, await read(place, viewer)] as const))
    const allowed = Object.entries(viewers).map(([name, seen]) => [name, tells(seen, name)] as const)
    t.deepEqual(Object.fromEntries(answers), Object.fromEntries(allowed), reader)
  }
  const { feed_url } = (await owner.post(at(w, `/calendars/${calendar.id}/feed`), { enabled: true })).data
  const feed = await w.visitor.get(new URL(feed_url).pathname)
  t.deepEqual(inText(feed.text), viewers['share read'], 'the subscription link is a reader')
  t.notRegex(feed.text, /guest@example/)
  const mails = await mailsTo(w, 'guest@example.com')
  t.deepEqual(inText(mails.map(({ text, subject }) => `${subject} ${text}`).join()), both('details'), 'mails go to guests')
  t.is(await countRecipients(w.db), 2, 'and to nobody else')
})

test('viewers: a calendar’s visibility applies to every member, and to no access key', async (t) => {
  const w = await shared()
  const member = await createMember(w, w.org, [])
  const key = await createService(w, w.org, [])
  const floors: Readonly<Record<string, Seen>> = { none: both('none'), busy: both('busy'), read: ['details', 'busy'] }
  for (const [visibility, seen] of Object.entries(floors)) {
    const calendar = await makeCalendar(t, w, { visibility })
    for (const event of events) await makeEvent(t, w, { ...event, calendar_id: calendar.id })
    const list = ({ client }: Caller) => textOf(client.get(at(w, `/events?${window}&calendars=${calendar.id}`)))
    t.deepEqual(inText(await list(member)), seen, visibility)
    t.deepEqual(inText(await list(key)), both('none'), visibility)
  }
})
