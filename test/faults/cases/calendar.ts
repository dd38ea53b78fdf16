import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { drain } from '#test/faults/accounts.ts'
import { bookAt, minutesBefore, planAt, Said } from '#test/faults/calendar/callers.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { Sender } from '#test/faults/load/sender.ts'
import { mailed, wrongOfMails } from '#test/faults/mails.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { type MailServer, startMailServer } from '#test/platform/mail/smtp.ts'
import { made } from '#test/support/made.ts'

const kills = 12
const bookers = 4

/** Time for begun requests to be answered after the end of the load. */
const patienceMs = 60_000

/**
 * Visitors book, answer and cancel, an organizer plans, and reminders and flows fall due, while APIs and workers are killed in turn. Every
 * confirmed effect exists once, no two bookings overlap, and each mail is sent and each flow runs once.
 */
export const calendarKilled: FaultCase = {
  name: 'bookings, answers, reminders and flows of a calendar, kill -9 of an API or a worker',
  limitSeconds: 400,
  run: async (t) => {
    const server = await startMailServer(t)
    const site = await openSite(t, { environment: { SMTP_URL: server.url, TRUST_PROXY: '1' } })
    const { page, calendar, plansId } = await makeCalendars(site)
    const sender = new Sender(
      site.apis.map(({ root }) => root),
      site.org.owner.token ?? '',
    )
    const [said, over, enough] = [new Said(), new AbortController(), new AbortController()]
    const callers = { sender, said, isOver: () => over.signal.aborted, enough: enough.signal }
    const all = Promise.all([...Array.from({ length: bookers }, () => bookAt(callers, page)), planAt(callers, calendar, plansId)])
    all.catch(() => undefined)
    const members = [site.apis[0], site.workers[0], site.apis[1], site.workers[1]]
    for (let kill = 0; kill < kills; kill++) {
      await delay(randomInt(500, 1_500))
      const member = members[kill % members.length]
      await member?.kill()
      await member?.start()
    }
    over.abort()
    const timer = setTimeout(() => enough.abort(), patienceMs)
    await all
    clearTimeout(timer)
    const left = await settled(site, Math.max(...said.planned.map(({ at }) => at)))
    return figuresOf(site, server, sender, said, left)
  },
}

/** A page that is always open, a calendar of plans, and a flow for each of their events. */
async function makeCalendars({ org }: Site): Promise<{ readonly page: string; readonly calendar: string; readonly plansId: string }> {
  const { owner, path, id } = org
  const calendar = `${path}/calendar`
  const hours = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]))
  const booking = { enabled: true, title: 'Visit', hours, durations: [15, 30, 60], slot_step: 15, min_notice: 0, horizon_days: 60 }
  await made(owner.post(`${calendar}/calendars`, { key: 'page', kind: 'org', name: 'Page', settings: { booking } }))
  const plans = await made(owner.post(`${calendar}/calendars`, { key: 'plans', kind: 'org', name: 'Plans' }))
  for (const [event, more] of [
    ['created', { calendar_key: 'page' }],
    ['cancelled', { calendar_key: 'page' }],
    ['starting', { calendar_key: 'plans', minutes_before: minutesBefore }],
  ] as const) {
    const values = { name: `${event} {{trigger.calendar_event.title}}` }
    const nodes = [
      { id: 't', type: 'trigger.calendar_event', config: { event, ...more } },
      { id: 'a', type: 'action.create_record', config: { object_type: 'locations', values } },
    ]
    const edges = [{ source: 't', target: 'a' }]
    await made(owner.post(`${path}/flows`, { name: event, enabled: true, nodes, edges }))
  }
  return { page: `/cal/${id}/book/page`, calendar, plansId: plans.id }
}

/** Waits until all planned events were announced and no work is left; returns what is left. */
async function settled(site: Site, latest: number): Promise<string[]> {
  const end = Math.max(Date.now(), latest) + 30_000
  await delay(Math.max(0, latest - Date.now()))
  const { db, org } = site
  const overdue = `select count(*)::integer as count from due_work where workspace_id = $1 and kind = 'calendar' and at <= now()`
  for (;;) {
    const { rows } = await db.query<{ count: number }>(overdue, [org.id])
    if (rows[0]?.count === 0) break
    if (Date.now() > end) return [`${rows[0]?.count} calendars have not looked at what fell due`]
    await delay(100)
  }
  const left = await drain(site)
  await mailed(site)
  return left
}

interface Kept {
  readonly name: string
  readonly status: string
  readonly booking: string
  readonly answer: string
  readonly start: string
  readonly end: string
}

async function figuresOf(site: Site, server: MailServer, sender: Sender, said: Said, left: readonly string[]): Promise<Figures> {
  const { db, org } = site
  const { rows: kept } = await db.query<Kept>(
    `select booking.name, event.status, booking.status as booking, guest.status as answer,
       event.start_at::text as start, event.end_at::text as "end"
     from bookings as booking join calendar_events as event on event.workspace_id = $1 and event.id = booking.event_id
     join calendar_attendees as guest on guest.workspace_id = $1 and guest.event_id = event.id and guest.is_booker
     where booking.workspace_id = $1`,
    [org.id],
  )
  const { rows: overlaps } = await db.query<{ count: number }>(
    `select count(*)::integer as count from calendar_events as one join calendar_events as other
       on other.workspace_id = one.workspace_id and other.calendar_id = one.calendar_id and one.id < other.id and one.extent && other.extent
     where one.workspace_id = $1 and one.source = 'booking' and one.status <> 'cancelled' and other.status <> 'cancelled'`,
    [org.id],
  )
  const { rows: plans } = await db.query<{ title: string; status: string }>(
    `select title, status from calendar_events where workspace_id = $1 and source = 'manual'`,
    [org.id],
  )
  const count = new Counted()
  const bookings = Map.groupBy(kept, ({ name }) => name)
  const expected = new Map(said.booked.map((booking) => [booking.name, booking]))
  for (const name of said.asked) count.between(`booking ${name}`, bookings.get(name)?.length ?? 0, expected.has(name) ? 1 : 0, 1)
  const planned = Map.groupBy(plans, ({ title }) => title)
  const acknowledged = new Map(said.planned.map((plan) => [plan.title, plan]))
  for (const title of said.plans) count.between(`event ${title}`, planned.get(title)?.length ?? 0, acknowledged.has(title) ? 1 : 0, 1)
  await countEffects(site, count, kept, plans)
  return {
    faults: kills,
    acknowledged: said.booked.length + said.planned.length,
    lost: count.lost,
    repeated: count.repeated,
    hung: sender.hung,
    failed: sender.failed,
    givenUp: sender.givenUp,
    slowest: sender.slowest,
    note: `${kept.length} bookings, ${said.refused} refused, ${plans.length} plans, ${server.taken.length} mails`,
    wrong: [
      ...sender.wrong,
      ...left,
      ...count.words,
      ...(overlaps[0]?.count === 0 ? [] : [`${overlaps[0]?.count} pairs of bookings overlap`]),
      ...kept.filter(({ name }) => !said.asked.has(name)).map(({ name }) => `Nobody asked for ${name}`),
      ...kept.flatMap((one) => wrongOfBooking(one, expected.get(one.name))),
      ...plans.flatMap(({ title, status }) =>
        acknowledged.get(title)?.cancelled && status !== 'cancelled' ? [`${title} was called off and is ${status}`] : [],
      ),
      ...(await wrongOfMails(site, server, ['booking', 'calendar'])),
    ],
  }
}

/** A booking is as it was confirmed, and either complete or cancelled. */
function wrongOfBooking(
  { name, status, booking, answer, start, end }: Kept,
  acknowledged: { readonly start: number; readonly end: number; readonly status: string } | undefined,
): string[] {
  const isOff = [status === 'cancelled', booking === 'cancelled', answer === 'declined']
  return [
    ...(new Set(isOff).size === 1 ? [] : [`${name} is ${status}, its booking ${booking}, its answer ${answer}`]),
    ...(acknowledged && answer !== acknowledged.status ? [`${name} answered ${acknowledged.status}, and ${answer} is kept`] : []),
    ...(acknowledged && (Date.parse(start) !== acknowledged.start || Date.parse(end) !== acknowledged.end)
      ? [`${name} was confirmed for another time`]
      : []),
  ]
}

/** Each booking and plan has each of its mails and records once, and a cancelled one at most one reminder. */
async function countEffects(
  { db, org }: Site,
  count: Counted,
  kept: readonly Kept[],
  plans: readonly { readonly title: string; readonly status: string }[],
): Promise<void> {
  const { rows: mails } = await db.query<{ what: string; count: number }>(
    `select recipient || ' ' || split_part(subject, ':', 1) as what, count(*)::integer as count
     from outbox_mails where workspace_id = $1 group by 1`,
    [org.id],
  )
  const mail = new Map(mails.map((one) => [one.what, one.count]))
  const record = new Map<string, number>()
  for (let cursor = ''; ; ) {
    const { data } = await org.owner.get(`${org.path}/records/locations?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    for (const { values } of data.records) record.set(values.name, (record.get(values.name) ?? 0) + 1)
    if (!data.next_cursor) break
    cursor = data.next_cursor
  }
  const exactly = (what: string, found: number | undefined, times: number) => count.between(what, found ?? 0, times, times)
  for (const { name, status } of kept) {
    const off = status === 'cancelled' ? 1 : 0
    exactly(`confirmation of ${name}`, mail.get(`${name}@example.com Booked`), 1)
    exactly(`cancellation of ${name}`, mail.get(`${name}@example.com Cancelled`), off)
    exactly(`flow on ${name}`, record.get(`created Visit: ${name}`), 1)
    exactly(`flow on the end of ${name}`, record.get(`cancelled Visit: ${name}`), off)
  }
  for (const { title, status } of plans) {
    const off = status === 'cancelled' ? 1 : 0
    count.between(`flow before ${title}`, record.get(`starting ${title}`) ?? 0, 1 - off, 1)
    for (const guest of ['a', 'b'].map((letter) => `${title}-${letter}@example.com`)) {
      exactly(`invitation of ${guest}`, mail.get(`${guest} Invitation`), 1)
      exactly(`cancellation of ${guest}`, mail.get(`${guest} Cancelled`), off)
      count.between(`reminder of ${guest}`, mail.get(`${guest} Reminder`) ?? 0, 1 - off, 1)
    }
  }
  const known = kept.length + kept.filter(({ status }) => status === 'cancelled').length
  const ofPage = [...record].filter(([name]) => !name.startsWith('starting ')).reduce((sum, [, times]) => sum + times, 0)
  exactly('records of bookings in all', ofPage, known)
}

/** Counts effects below their minimum and above their maximum. */
class Counted {
  lost = 0
  repeated = 0
  readonly words: string[] = []

  between(what: string, found: number, least: number, most: number): void {
    this.lost += Math.max(0, least - found)
    this.repeated += Math.max(0, found - most)
    if (found < least || found > most) this.words.push(`${found} times: ${what}`)
  }
}
