import test from 'ava'
import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { subscriptions } from '#shared/features.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { flood } from '#test/platform/events/flood.ts'
import { addEventLater, deleteDeliveries, holdNotifications, readBacklog, readEvents } from '#test/platform/events/rows.ts'
import { pauseUntilEnd } from '#test/platform/jobs/pausing.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { lockRows } from '#test/support/locks.ts'
import { countRows } from '#test/support/rows.ts'
import { countLockWaits } from '#test/support/waiting.ts'
import { world } from '#test/support/world.ts'
import { EventNumbering } from '#workers/platform/events/event-numbering.ts'

/** Changes of one workspace, many times those that are numbered at once. */
const many = 5_000

test('fairness: a workspace’s change is delivered in its turn while most deliveries of another workspace’s flood wait', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await deleteDeliveries(w.db)
    await w.close()
  })
  await w.worker.pools.stop(0)
  const small = { ...w, org: await createOrg(w) }
  for (const one of [w, small]) await makeRule(one)
  await flood(w, many)
  await small.org.owner.post(locationsOf(small), { values: { name: 'x' } })
  const numbering = new EventNumbering(
    { db: w.worker.database, jobQueue: w.worker.jobQueue, log: createLogger('test', 'silent') },
    subscriptions,
  )
  t.teardown(() => numbering.stop())
  numbering.start()
  await eventually(() => numbering.idle)
  t.deepEqual(await readBacklog(w.db, small.org.id), { inbox: 0, waiting: 0, queue: 1 })
  const { inbox, waiting, queue } = await readBacklog(w.db, w.org.id)
  t.is(inbox, 0)
  t.is(waiting + queue, many + 1)
  t.true(waiting > many / 2, `${queue} deliveries are in the queue`)
  t.is((await readEvents(w.db, w.org.id)).length, many + 1)
})

test('fairness: a workspace’s notification is delivered while another workspace’s flood waits, and each of the flood arrives once', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const small = { ...w, org: await createOrg(w) }
  for (const one of [w, small]) await makeRule(one)
  // A delivery of the flood waits in the middle of its statement.
  const hold = await holdNotifications(w.db, `new.workspace_id = '${w.org.id}'`)
  await flood(w, many)
  await hold.reached()
  for (const name of ['x', 'y']) {
    const { id } = (await small.org.owner.post(locationsOf(small), { values: { name } })).data
    const newest = async () => (await small.org.owner.get(inboxOf(small))).data.notifications[0]?.record_id
    await eventually(async () => (await newest()) === id)
  }
  t.is(await countRows(w.db, 'notifications', w.org.id), 0)
  await hold.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, many + 1)
  t.is((await small.org.owner.get(`${inboxOf(small)}/unread-count`)).data.count, 2)
})

test('fairness: a paused subscriber with many waiting jobs holds up no other one', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await makeRule(w)
  const end = await pauseUntilEnd(t, w, deliverNotificationsJob.name)
  await flood(w, many)
  await eventually(async () => {
    const { inbox, waiting } = await readBacklog(w.db, w.org.id)
    return inbox + waiting === 0
  })
  t.is((await readBacklog(w.db, w.org.id)).queue, many + 1)
  await end()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, many + 1)
})

test('fairness: a transaction that stays open delays no event of another workspace, and of its own only those that it makes', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const other = await createOrg(w)
  const commit = await addEventLater(t, w.db, w.org.id)
  const create = async ({ owner, path }: typeof other) => (await owner.post(`${path}/records/locations`, { values: { name: 'x' } })).data.id
  const lastSeq = async ({ owner, path }: typeof other): Promise<number> => (await owner.get(`${path}/events`)).data.last_seq
  // Workers number these, which drew their ids after the open transaction did.
  for (const [count, one] of [other, w.org, other, w.org, other].entries()) {
    await create(one)
    await eventually(async () => (await lastSeq(one)) === (count >> 1) + 1)
  }
  await commit()
  await create(w.org)
  await eventually(async () => (await lastSeq(w.org)) === 4)
  const numbers = async (org: typeof other) => (await readEvents(w.db, org.id)).map(({ seq }) => seq)
  t.deepEqual(
    [await numbers(w.org), await numbers(other)],
    [
      [1, 2, 3, 4],
      [1, 2, 3],
    ],
  )
})

test('fairness: a workspace that another process numbers for long delays no event of another workspace', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const other = await createOrg(w)
  const head = await lockRows(t, w.db, 'feed_heads', 'workspace_id = $1', [w.org.id])
  const events = async ({ owner, path }: typeof other) => (await owner.get(`${path}/events`)).data
  for (const one of [w.org, other, w.org, other]) await one.owner.post(`${one.path}/records/locations`, { values: { name: 'x' } })
  await eventually(async () => {
    t.is(await countLockWaits(w.db), 0)
    return (await events(other)).last_seq === 2
  })
  t.is((await events(w.org)).last_seq, 0)
  await head.release()
  await eventually(async () => (await events(w.org)).last_seq === 2)
})
