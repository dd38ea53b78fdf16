import test, { type ExecutionContext } from 'ava'
import { receivedMails, shape } from '#test/features/calendar/received-mails.ts'
import { readEmail } from '#test/features/calendar/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { at: '2026-11-25T08:00:00Z' })

const answered = ['accepted', 'declined', 'tentative', 'needs_action'] as const

/** Actions on an invitation: an answer by its link, by a signed-in member, or a change by the organizer. */
type Step =
  | `link ${string}`
  | `member ${string}`
  | 'moved'
  | 'renamed'
  | 'called off'
  | 'put on again'
  | 'deleted'
  | 'taken off'
  | 'joined'
  | 'other declined'
  | 'nobody'

interface Case {
  readonly who: 'guest' | 'member' | 'booker'
  readonly before: readonly Step[]
  readonly heard: Step
  /** The status of the answer to the step, the guest's answer afterwards, and the mails of this step to the guest. */
  readonly outcome: string
}

const cases: readonly Case[] = [
  { who: 'guest', before: [], heard: 'nobody', outcome: '– needs_action' },
  { who: 'guest', before: [], heard: 'link accepted', outcome: '200 accepted' },
  { who: 'guest', before: [], heard: 'link tentative', outcome: '200 tentative' },
  { who: 'guest', before: [], heard: 'link declined', outcome: '200 declined' },
  { who: 'guest', before: [], heard: 'link needs_action', outcome: '400 needs_action' },
  { who: 'guest', before: ['link accepted'], heard: 'link accepted', outcome: '200 accepted' },
  { who: 'guest', before: ['link accepted'], heard: 'link declined', outcome: '200 declined' },
  { who: 'guest', before: ['link declined'], heard: 'link accepted', outcome: '200 accepted' },
  { who: 'guest', before: ['link accepted'], heard: 'renamed', outcome: '200 accepted REQUEST 0' },
  { who: 'guest', before: ['link accepted'], heard: 'moved', outcome: '200 needs_action REQUEST 1' },
  { who: 'guest', before: ['link declined'], heard: 'moved', outcome: '200 needs_action REQUEST 1' },
  { who: 'guest', before: ['link accepted', 'moved'], heard: 'link tentative', outcome: '200 tentative' },
  { who: 'guest', before: ['link accepted'], heard: 'called off', outcome: '200 accepted, off CANCEL 1' },
  { who: 'guest', before: ['link accepted', 'called off'], heard: 'link declined', outcome: '200 accepted, off' },
  { who: 'guest', before: ['called off'], heard: 'called off', outcome: '200 needs_action, off' },
  { who: 'guest', before: ['link accepted', 'called off'], heard: 'put on again', outcome: '200 accepted REQUEST 2' },
  { who: 'guest', before: ['called off', 'put on again'], heard: 'link declined', outcome: '200 declined' },
  { who: 'guest', before: ['link accepted'], heard: 'deleted', outcome: '200 gone CANCEL 1' },
  { who: 'guest', before: ['link accepted', 'deleted'], heard: 'link declined', outcome: '404 gone' },
  { who: 'guest', before: ['called off'], heard: 'deleted', outcome: '200 gone' },
  { who: 'guest', before: ['link accepted'], heard: 'taken off', outcome: '200 gone CANCEL 0' },
  { who: 'guest', before: ['taken off'], heard: 'link accepted', outcome: '404 gone' },
  { who: 'member', before: [], heard: 'member accepted', outcome: '200 accepted' },
  { who: 'member', before: ['member accepted'], heard: 'member accepted', outcome: '200 accepted' },
  { who: 'member', before: ['member accepted'], heard: 'member needs_action', outcome: '200 needs_action' },
  { who: 'member', before: ['link declined'], heard: 'member tentative', outcome: '200 tentative' },
  { who: 'member', before: ['member declined'], heard: 'link accepted', outcome: '200 accepted' },
  { who: 'member', before: ['member accepted'], heard: 'moved', outcome: '200 needs_action REQUEST 1' },
  { who: 'member', before: ['member accepted', 'called off'], heard: 'member declined', outcome: '200 accepted, off' },
  { who: 'member', before: ['member accepted', 'deleted'], heard: 'member declined', outcome: '404 gone' },
  { who: 'member', before: ['taken off'], heard: 'member accepted', outcome: '404 gone' },
  { who: 'booker', before: [], heard: 'nobody', outcome: '– accepted' },
  { who: 'booker', before: [], heard: 'link tentative', outcome: '200 tentative' },
  { who: 'booker', before: [], heard: 'link declined', outcome: '200 declined, off CANCEL 1' },
  { who: 'booker', before: ['link declined'], heard: 'link declined', outcome: '200 declined, off' },
  { who: 'booker', before: ['joined'], heard: 'other declined', outcome: '200 accepted' },
  { who: 'booker', before: ['link declined'], heard: 'link accepted', outcome: '200 declined, off' },
  { who: 'booker', before: ['link tentative'], heard: 'moved', outcome: '200 tentative REQUEST 1' },
  { who: 'booker', before: ['moved'], heard: 'link declined', outcome: '200 declined, off CANCEL 2' },
  { who: 'booker', before: [], heard: 'called off', outcome: '200 accepted, off CANCEL 1' },
  { who: 'booker', before: ['called off'], heard: 'link declined', outcome: '200 accepted, off' },
  { who: 'booker', before: [], heard: 'deleted', outcome: '200 gone CANCEL 1' },
  { who: 'booker', before: ['deleted'], heard: 'link declined', outcome: '404 gone' },
  { who: 'booker', before: ['link declined'], heard: 'deleted', outcome: '200 gone' },
]

test('answers: answers to invitations follow one table of cases', async (t) => {
  let ms = Date.parse('2026-11-25T08:00:00Z')
  const w = await world({ TRUST_PROXY: '1' }, undefined, () => new Date(ms))
  t.teardown(w.close)
  const all = await inTurn(cases, (one, index) => invite(t, w, one.who, index))
  // All cases take their steps together, so that the mails of each step are made at once.
  const play = async (stepOf: (one: Case) => Step | undefined) => {
    await w.drain()
    ms += 60_000
    return inTurn(cases, (one, index) => all[index]?.play(stepOf(one)))
  }
  const steps = Math.max(...cases.map(({ before }) => before.length))
  for (let step = 0; step < steps; step++) await play(({ before }) => before[step])
  const known = await inTurn(all, async ({ address }) => (await receivedMails(w, address)).length)
  const statuses = await play(({ heard }) => heard)
  await inTurn(cases, async ({ who, before, heard, outcome }, index) => {
    const one = all[index] as Invited
    const mails = shape((await receivedMails(w, one.address)).slice(known[index]))
    t.is([statuses[index] ?? '–', await one.state(), ...mails].join(' '), outcome, `${who}: ${[...before, heard].join(', ')}`)
  })
})

async function inTurn<In, Out>(all: readonly In[], work: (one: In, index: number) => Out | Promise<Out>): Promise<Out[]> {
  const made: Out[] = []
  for (const [index, one] of all.entries()) made.push(await work(one, index))
  return made
}

interface Invited {
  readonly address: string
  /** Plays a step and gives the status that it was answered with; nothing for none. */
  readonly play: (step: Step | undefined) => Promise<number | undefined>
  /** The guest's answer as its link shows it. */
  readonly state: () => Promise<string>
}

/** An event with a guest that has been mailed, each in a row of cases with an address and a time of its own. */
async function invite(t: ExecutionContext, w: World, who: Case['who'], index: number): Promise<Invited> {
  const { owner } = w.org
  const member = who === 'member' ? await createMember(w, w.org, [], `Ada${index}`) : undefined
  const address = member ? await readEmail(w.db, member.id) : `guest${index}@example.com`
  const { id } = who === 'booker' ? await book(t, w, address) : await makeEvent(t, w, { attendees: [{ email: address }] })
  const path = at(w, `/events/${id}`)
  const link = await linkOf(w, address)
  const change = (body: object) => owner.patch(path, body)
  const steps: Readonly<Record<string, () => Promise<{ status: number }>>> = {
    moved: () => change({ start: '2026-12-09T09:00:00Z' }),
    renamed: () => change({ title: `Renamed ${index}` }),
    'called off': () => change({ status: 'cancelled' }),
    'put on again': () => change({ status: 'confirmed' }),
    deleted: () => owner.delete(path),
    'taken off': () => change({ attendees: [] }),
    joined: () => change({ attendees: [{ email: address }, { email: `other${index}@example.com` }] }),
    'other declined': async () => w.visitor.post(await linkOf(w, `other${index}@example.com`), { status: 'declined' }, fromAnywhere()),
    ...Object.fromEntries(answered.map((status) => [`link ${status}`, () => w.visitor.post(link, { status }, fromAnywhere())])),
    ...(member
      ? Object.fromEntries(answered.map((status) => [`member ${status}`, () => member.client.post(`${path}/rsvp`, { status })]))
      : {}),
  }
  return {
    address,
    play: async (step) => (await steps[step ?? 'nobody']?.())?.status,
    state: async () => {
      const { status, data } = await w.visitor.get(link, fromAnywhere())
      return status === 404 ? 'gone' : `${data.status}${data.cancelled ? ', off' : ''}`
    },
  }
}

/** The link in the first mail to an address. */
async function linkOf(w: World, address: string): Promise<string> {
  const [mail] = await receivedMails(w, address)
  const [, token] = new RegExp(`/rsvp/${w.org.id}/(\\w+)`).exec(mail?.text ?? '') ?? []
  return `/cal/${w.org.id}/rsvp/${token}`
}

async function book(t: ExecutionContext, w: World, email: string): Promise<{ id: string }> {
  const { key, id } = await makeCalendar(t, w, { settings: { booking: { enabled: true } } })
  const { status, text } = await w.visitor.post(
    `/cal/${w.org.id}/book/${key}`,
    { start: '2026-12-01T09:00:00Z', name: 'Vera', email },
    fromAnywhere(),
  )
  t.is(status, 201, text)
  const { data } = await w.org.owner.get(at(w, `/events?from=2026-12-01&to=2026-12-01&calendars=${id}`))
  return { id: data.events[0].event_id }
}

test('answers: a booker whose booking was deleted is informed by mail, and its page says so', async (t) => {
  const w = await shared()
  const { id } = await book(t, w, 'vera@example.com')
  const [confirmed] = await receivedMails(w, 'vera@example.com')
  const [page = ''] = new RegExp(`/rsvp/${w.org.id}/\\w+`).exec(confirmed?.text ?? '') ?? []
  const open = await w.visitor.get(page)
  const formToken = /name="form_token" value="([^"]+)"/.exec(open.text)?.[1] ?? ''
  t.is((await w.org.owner.delete(at(w, `/events/${id}`))).status, 200)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const sent = await w.visitor.send('POST', page, new URLSearchParams({ status: 'accepted', form_token: formToken }).toString(), form)
  for (const answer of [await w.visitor.get(page), sent]) {
    t.is(answer.status, 404)
    t.regex(answer.text, /the page is no longer open/)
    t.notRegex(answer.text, /Vera|Send my answer/)
  }
  const off = (await receivedMails(w, 'vera@example.com')).filter(({ method }) => method === 'CANCEL')
  t.is(off.length, 1)
  t.notRegex(off[0]?.text ?? '', /\/rsvp\//, 'it leads nowhere')
})

test('answers: a booker who declines a booking that was turned into a series cancels the whole series, by one mail', async (t) => {
  let ms = Date.parse('2026-11-25T08:00:00Z')
  const w = await world({}, undefined, () => new Date(ms))
  t.teardown(w.close)
  const { owner } = w.org
  const { id } = await book(t, w, 'vera@example.com')
  const link = await linkOf(w, 'vera@example.com')
  ms += 60_000
  t.is((await owner.patch(at(w, `/events/${id}`), { recurrence: 'FREQ=WEEKLY;COUNT=3' })).status, 200)
  t.is((await owner.patch(at(w, `/events/${id}?scope=this&occurrence=2026-12-08T09:00:00Z`), { title: 'Own' })).status, 200)
  await w.drain()
  ms += 60_000
  t.is((await w.visitor.post(link, { status: 'declined' }, fromAnywhere())).status, 200)
  const { data } = await owner.get(at(w, '/events?from=2026-12-01&to=2026-12-31'))
  t.deepEqual(
    data.events.map(({ status }: { status: string }) => status),
    ['cancelled', 'cancelled', 'cancelled'],
  )
  t.is((await receivedMails(w, 'vera@example.com')).filter(({ method }) => method === 'CANCEL').length, 1)
})
