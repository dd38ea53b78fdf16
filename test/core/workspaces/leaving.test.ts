import test from 'ava'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { countPersonalThings } from '#test/core/workspaces/rows.ts'
import { at, makeCalendar, makeEvent } from '#test/features/calendar/support.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import type { Client } from '#test/support/client.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import { readFileUsage } from '#test/support/rows.ts'
import { world } from '#test/support/world.ts'

test('leaving: personal things of a removed member are out of reach at once, restored within 30 days, and deleted after that', async (t) => {
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const daysAhead = (days: number) => new Date(now().getTime() + days * dayMs).toISOString()
  const w = await world({ TRUST_PROXY: '1' }, undefined, now)
  t.teardown(w.close)
  const { owner, path, id: orgId } = w.org
  const person = { name: 'Ada Adams', password: 'a password of mine' }
  const enter = async (): Promise<{ client: Client; id: string }> => {
    t.is((await owner.post(`${path}/members`, { email: 'ada@example.com' })).status, 201)
    const token = await mailedToken(w, 'ada@example.com')
    const { status, data } = await w.visitor.post('/v1/auth/accept-invite', { token, ...person })
    t.is(status, 200)
    return { client: w.visitor.as(data.token), id: data.user.id }
  }
  const leave = async (id: string) => t.is((await owner.delete(`${path}/members/${id}`)).status, 204)

  const { email: ownerAddress } = (await owner.get('/v1/auth/me')).data
  const ada = await enter()
  const { main } = await firstSpaces(ada.client, w.org)
  t.is((await spaceOf(ada.client, w.org, main).put('f/a.txt')).status, 201)
  t.is((await spaceOf(ada.client, w.org, main).share({ prefix: 'f/', user_id: w.org.ownerId, mode: 'view' })).status, 201)
  const booking = {
    enabled: true,
    min_notice: 0,
    hours: Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]])),
  }
  const calendar = await makeCalendar(t, w, { kind: 'personal', settings: { booking } }, ada.client)
  t.is((await ada.client.post(at(w, `/calendars/${calendar.id}/shares`), { email: ownerAddress, level: 'write' })).status, 201)
  // The first reminder falls due while she is away and is not sent; the second once she is back.
  const meet = (title: string, inDays: number) => {
    const times = { start: daysAhead(inDays), end: daysAhead(inDays + 0.5), reminders: [60] }
    return makeEvent(t, w, { calendar_id: calendar.id, title, attendees: [{ user_id: ada.id }], ...times }, ada.client)
  }
  await meet('Missed', 10)
  const event = await meet('Review', 29.5)
  const feed = new URL((await ada.client.post(at(w, `/calendars/${calendar.id}/feed`), { enabled: true })).data.feed_url).pathname
  const page = `/cal/${orgId}/book/${calendar.key}`
  const slots = (from: Date) => `${page}/slots?from=${from.toISOString().slice(0, 10)}&to=${from.toISOString().slice(0, 10)}`
  const tomorrow = new Date(now().getTime() + dayMs)
  const [first, second] = (await w.visitor.get(slots(tomorrow))).data.slots as string[]
  const guest = { name: 'Vera', email: 'vera@example.com' }
  const booked = await w.visitor.post(page, { start: first, ...guest })
  t.is(booked.status, 201, booked.text)
  const rsvp = `/cal/${orgId}/rsvp/${booked.data.token}`

  /** The statuses of all requests that reach her things. */
  const reached = async (): Promise<Record<string, number>> => ({
    file: (await spaceOf(owner, w.org, main).download('f/a.txt')).status,
    calendar: (await owner.get(at(w, `/calendars/${calendar.id}`))).status,
    event: (await owner.get(at(w, `/events/${event.id}`))).status,
    page: (await w.visitor.get(page)).status,
    hosted: (await w.visitor.get(`/book/${orgId}/${calendar.key}`)).status,
    slots: (await w.visitor.get(slots(tomorrow))).status,
    rsvp: (await w.visitor.get(rsvp)).status,
    feed: (await w.visitor.get(feed)).status,
  })
  const all = (status: number) =>
    Object.fromEntries(['file', 'calendar', 'event', 'page', 'hosted', 'slots', 'rsvp', 'feed'].map((one) => [one, status]))
  const listed = async () => {
    const { shared } = (await owner.get(`${path}/drive/buckets`)).data
    const calendars: { id: string }[] = (await owner.get(at(w, '/calendars?all=1'))).data
    return [shared.length, calendars.filter(({ id }) => id === calendar.id).length]
  }
  t.deepEqual(await reached(), all(200))
  t.deepEqual(await listed(), [1, 1])
  await w.drain()

  await leave(ada.id)
  t.deepEqual(await reached(), all(404))
  t.deepEqual(await listed(), [0, 0])
  t.is((await w.visitor.post(page, { start: second, ...guest })).status, 404)
  t.is((await w.visitor.post(rsvp, { status: 'declined' })).status, 404)
  t.is((await owner.delete(at(w, `/events/${event.id}`))).status, 404)
  for (const own of [`${path}/drive/buckets/${main}/objects`, at(w, `/calendars/${calendar.id}`)])
    t.is((await ada.client.get(own)).status, 404)
  t.is((await owner.get(at(w, `/freebusy?users=${ada.id}&from=${daysAhead(0)}&to=${daysAhead(20)}`))).data.users[0].unknown, true)

  aheadMs += 29 * dayMs
  await w.drain()
  t.deepEqual(await reached(), all(404))
  const back = await enter()
  t.is(back.id, ada.id)
  t.deepEqual({ ...(await reached()), slots: 200 }, all(200))
  t.deepEqual(await listed(), [1, 1])
  t.is((await spaceOf(back.client, w.org, main).download('f/a.txt')).text, 'text')
  t.is((await firstSpaces(back.client, w.org)).main, main)
  await w.drain()
  aheadMs += 0.49 * dayMs
  await w.drain()
  const inbox: { title: string }[] = (await back.client.get(`${path}/notifications`)).data.notifications
  t.deepEqual(
    inbox.map(({ title }) => title.split(':')[0]),
    ['Review'],
    'future events are announced again',
  )

  await leave(ada.id)
  for (const days of [15, 15.1]) {
    aheadMs += days * dayMs
    await w.drain()
    t.deepEqual(await reached(), all(404))
  }
  t.is(await countPersonalThings(w.db, ada.id, calendar.id), 0)
  t.is(await readFileUsage(w.db, orgId), 0)
  const again = await enter()
  t.is(again.id, ada.id)
  t.deepEqual(await reached(), all(404))
  t.not((await firstSpaces(again.client, w.org)).main, main)
  t.is((await again.client.get(at(w, `/calendars/${calendar.id}`))).status, 404)
  t.is((await again.client.get(`${path}/drive/buckets/${main}/objects`)).status, 404)
})
