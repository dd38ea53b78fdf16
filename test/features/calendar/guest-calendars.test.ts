import test, { type ExecutionContext } from 'ava'
import { type GuestPrograms, startGuestPrograms } from '#test/features/calendar/guest-program.ts'
import { at, makeEvent } from '#test/features/calendar/support.ts'
import { type World, world } from '#test/support/world.ts'

const [ada, bob] = ['ada@example.com', 'bob@example.com'] as const
const [from, to] = ['2027-01-01', '2027-12-31'] as const

interface Desk {
  readonly w: World
  readonly programs: GuestPrograms
  /** Makes a call a minute later, delivers the mails and holds every guest's calendar against the organizer's. Gives the mails' subjects. */
  readonly step: (call: () => Promise<unknown>, what?: string) => Promise<readonly string[]>
}

async function open(t: ExecutionContext): Promise<Desk> {
  let ms = Date.parse('2026-11-25T08:00:00Z')
  const w = await world({}, undefined, () => new Date(ms))
  t.teardown(w.close)
  const programs = startGuestPrograms(w, [ada, bob])
  const step = async (call: () => Promise<unknown>, what = '') => {
    ms += 60_000
    await call()
    const { problems, subjects } = await programs.deliver()
    t.deepEqual(problems, [], what)
    t.deepEqual(await programs.differences(from, to), [], what)
    return subjects
  }
  return { w, programs, step }
}

const weekly = {
  title: 'Weekly',
  start: '2027-03-01T14:00:00Z',
  timezone: 'Europe/Berlin',
  recurrence: 'FREQ=WEEKLY;COUNT=8',
  attendees: [{ email: ada }],
}
const nth = (week: number, scope: string) => {
  const start = new Date(Date.parse('2027-03-01T14:00:00Z') + week * 7 * 86_400_000)
  // Berlin's clock goes forward on 28 March 2027.
  if (week >= 4) start.setUTCHours(13)
  return `scope=${scope}&occurrence=${start.toISOString()}`
}

/** A series of Ada's whose second occurrence is deleted, third moved and fifth called something else. */
async function makeSeries(t: ExecutionContext, { w, step }: Desk) {
  const { owner } = w.org
  let id = ''
  await step(async () => {
    id = (await makeEvent(t, w, weekly)).id
  })
  const path = (query = '') => at(w, `/events/${id}?${query}`)
  t.deepEqual(await step(() => owner.delete(path(nth(1, 'this')))), ['ada: Cancelled: Weekly'])
  t.deepEqual(await step(() => owner.patch(path(nth(2, 'this')), { start: '2027-03-16T09:00:00Z' })), ['ada: Changed: Weekly'])
  t.deepEqual(await step(() => owner.patch(path(nth(4, 'this')), { title: 'Own' })), ['ada: Changed: Own'])
  return { id, path }
}

test('guest calendars: guests keep the deleted and changed occurrences of a split series', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { path } = await makeSeries(t, desk)
  t.deepEqual(await desk.step(() => owner.delete(path(nth(6, 'following')))), ['ada: Changed: Weekly'])
  const subjects = await desk.step(() => owner.patch(path(nth(4, 'following')), { title: 'Later' }))
  t.deepEqual([...subjects].sort(), ['ada: Changed: Weekly', 'ada: Invitation: Later'])
})

test('guest calendars: the guests of the later part of a series change without those of the earlier part', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { id, path } = await makeSeries(t, desk)
  const subjects = await desk.step(() => owner.patch(path(nth(5, 'following')), { attendees: [{ email: bob }] }))
  t.deepEqual([...subjects].sort(), ['ada: Changed: Weekly', 'bob: Invitation: Weekly'])
  t.deepEqual(
    (await owner.get(at(desk.w, `/events/${id}`))).data.attendees.map(({ email }: { email: string }) => email),
    [ada],
  )
})

test('guest calendars: a deleted series is cancelled once, with all its exceptions', async (t) => {
  const desk = await open(t)
  const { path } = await makeSeries(t, desk)
  t.deepEqual(await desk.step(() => desk.w.org.owner.delete(path())), ['ada: Cancelled: Weekly'])
})

test('guest calendars: a cancelled series cancels its exceptions, and restores them', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { path } = await makeSeries(t, desk)
  await desk.step(() => owner.patch(path(nth(5, 'this')), { status: 'tentative' }))
  t.deepEqual(await desk.step(() => owner.patch(path(), { status: 'cancelled' })), ['ada: Cancelled: Weekly'])
  t.deepEqual(await desk.step(() => owner.patch(path(), { status: 'confirmed' })), ['ada: Changed: Weekly'])
})

test('guest calendars: a new guest gets an invitation, a remaining one a change, a removed one a cancellation', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { path } = await makeSeries(t, desk)
  const both = { attendees: [{ email: ada }, { email: bob }] }
  t.deepEqual(await desk.step(() => owner.patch(path(), both)), ['bob: Invitation: Weekly'])
  t.deepEqual([...(await desk.step(() => owner.patch(path(), { location: 'Here' })))].sort(), [
    'ada: Changed: Weekly',
    'bob: Changed: Weekly',
  ])
  t.deepEqual(await desk.step(() => owner.patch(path(nth(5, 'this')), { attendees: [{ email: ada }] })), ['bob: Cancelled: Weekly'])
  await desk.step(() => owner.patch(path(), { title: 'All' }), 'what was taken off stays off when the series changes')
  t.deepEqual(await desk.step(() => owner.patch(path(nth(5, 'this')), both)), ['bob: Invitation: All'])
  t.deepEqual(await desk.step(() => owner.patch(path(), { attendees: [{ email: bob }] })), ['ada: Cancelled: All'])
})

test('guest calendars: a guest of one occurrence gets mails of that occurrence only', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { path } = await makeSeries(t, desk)
  const both = { attendees: [{ email: ada }, { email: bob }] }
  for (const week of [2, 5]) t.is((await desk.step(() => owner.patch(path(nth(week, 'this')), both))).length, 1)
  await desk.step(() => owner.patch(path(), { start: '2027-03-08T14:00:00Z' }), 'a week later')
  t.deepEqual([...(await desk.step(() => owner.delete(path())))].sort(), ['ada: Cancelled: Weekly', 'bob: Cancelled: Weekly'])
})

test('guest calendars: a series with exceptions in following weeks moves by weeks, days and hours, both ways', async (t) => {
  const desk = await open(t)
  const { owner } = desk.w.org
  const { path } = await makeSeries(t, desk)
  await desk.step(() => owner.patch(path(nth(3, 'this')), { title: 'Next' }))
  let start = Date.parse(weekly.start)
  for (const days of [7, -7, -21, 14, 1, 5 / 24]) {
    start += days * 86_400_000
    const subjects = await desk.step(async () => {
      const { status, text } = await owner.patch(path(), { start: new Date(start).toISOString() })
      t.is(status, 200, `${days} ${text}`)
    }, `${days} days`)
    t.deepEqual(subjects, ['ada: Changed: Weekly'])
  }
})
