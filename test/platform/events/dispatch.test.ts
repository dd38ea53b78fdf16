import test, { type ExecutionContext } from 'ava'
import { subscriptions } from '#shared/features.ts'
import { listen } from '#shared/platform/events/listen.ts'
import { inboxSignal } from '#shared/platform/jobs/job-signals.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import {
  addEvents,
  addForeignEvents,
  addMembers,
  announceAsBefore,
  countInbox,
  deleteDeliveries,
  deleteListeners,
  readBacklog,
  readDeliveries,
  readEvents,
  refuseDeliveries,
  takeAsBefore,
} from '#test/platform/events/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { countRows, deleteJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'
import { EventNumbering } from '#workers/platform/events/event-numbering.ts'
import { numberBatch } from '#workers/platform/events/number-batch.ts'

const shared = shareWorld(test, {}, { pools: [] })

/** A world without workers. */
async function withoutWorkers(t: ExecutionContext): Promise<World> {
  const w = await shared()
  await deleteDeliveries(w.db)
  t.teardown(async () => {
    await deleteDeliveries(w.db)
    await deleteListeners(w.db)
  })
  return w
}

/** A process that numbers events. */
const numberingOf = (w: World, known = subscriptions) =>
  new EventNumbering({ db: w.worker.database, jobQueue: w.worker.jobQueue, log: createLogger('test', 'silent') }, known)

/** Numbers the events of the world's workspace once. */
const number = ({ worker, org }: World, known = subscriptions) =>
  numberBatch({ db: worker.database, jobQueue: worker.jobQueue }, known, [org.id], 1_000)

test('dispatch: a delivery holds what changed, the listeners and the cause', async (t) => {
  const w = await withoutWorkers(t)
  const rule = await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } }, { 'x-request-id': 'a-request' })
  await number(w)
  const { entries } = (await w.org.owner.get(`${w.org.path}/audit?action=record.created`)).data
  const cause = { actorId: w.org.ownerId, actorType: 'user', requestId: 'a-request', depth: 0, kind: 'request', id: null }
  t.deepEqual(await readDeliveries(w.db), [{ job: 'notifications.deliver', entryIds: [entries[0].id], listenerIds: [rule], cause }])
})

test('dispatch: every change is numbered, and delivered to its present listeners alone', async (t) => {
  const w = await withoutWorkers(t)
  const { owner } = w.org
  await number(w)
  const before = (await readEvents(w.db, w.org.id)).length
  const one = (await owner.post(locationsOf(w), { values: { name: 'x' } })).data
  const rules = [await makeRule(w, { event: 'updated' }), await makeRule(w, { event: 'updated' })]
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await makeRule(w, { event: 'updated' })
  await owner.post(locationsOf(w), { values: { name: 'z' } })
  await number(w)
  const { entries } = (await owner.get(`${w.org.path}/audit?action=record.updated`)).data
  const [first, ...others] = await readDeliveries(w.db)
  t.deepEqual(others, [])
  t.deepEqual(first?.entryIds, [entries[0].id])
  t.deepEqual(first?.listenerIds, rules.toSorted())
  const events = await readEvents(w.db, w.org.id)
  t.deepEqual(
    events.slice(before).map(({ type }) => type),
    ['records.created', 'records.updated', 'records.created'],
  )
  t.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
  )
})

test('dispatch: a listener that is saved again goes on without a gap; one that ended before the numbering hears nothing', async (t) => {
  const w = await withoutWorkers(t)
  const [kept, ended] = [await makeRule(w), await makeRule(w)]
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  const again = { workspaceId: w.org.id, subscriber: 'notifications', id: kept }
  const created = { objectType: 'locations', event: 'created' }
  await w.worker.database.transaction((tx) => listen(tx, again, [created, { objectType: 'locations', event: 'deleted' }]))
  await w.worker.database.transaction((tx) => listen(tx, { ...again, id: ended }, []))
  await number(w)
  t.deepEqual(
    (await readDeliveries(w.db)).map(({ listenerIds }) => listenerIds),
    [[kept]],
  )
})

test('dispatch: a write that is rolled back emits nothing', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w, { object_type: 'invoices' })
  const invoices = `${w.org.path}/records/invoices`
  await w.org.owner.post(invoices, { values: { number: 'A' } })
  t.is((await w.org.owner.post(invoices, { values: { number: 'A' } })).status, 409)
  t.is(await countInbox(w.db), 1)
})

test('dispatch: an import of 500 rows makes a few deliveries of many changes, and reaches each of many members', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await addMembers(w.db, w.org.id, 99)
  await makeRule(w)
  const rows = Array.from({ length: 500 }, (_, index) => `place ${index}`)
  const file = `name\n${rows.join('\n')}\n`
  const lock = await lockTable(t, w.db, 'notification_rules')
  t.like((await w.org.owner.post(`${locationsOf(w)}/import`, file, { 'content-type': 'text/csv' })).data, { created: 500 })
  await eventually(async () => (await countInbox(w.db)) === 0)
  const filed = (await readDeliveries(w.db)).map(({ entryIds }) => entryIds)
  t.true(filed.length <= 10, `${filed.length} deliveries`)
  t.is(new Set(filed.flat()).size, 500)
  await lock.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  t.is(await countRows(w.db, 'notifications'), 100 * 500)
})

test('dispatch: many processes deliver each change once, in groups, also when one of them fails meanwhile', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await number(w)
  const before = (await readEvents(w.db, w.org.id)).length
  await addEvents(w.db, w.org.id, 1_201)
  // The queue refuses after the events were numbered.
  const acceptDeliveries = await refuseDeliveries(w.db)
  const processes = Array.from({ length: 4 }, () => numberingOf(w))
  t.teardown(() => Promise.all(processes.map((one) => one.stop())))
  for (const one of processes) one.start()
  await eventually(() => processes.every(({ idle }) => idle))
  t.is(await countInbox(w.db), 1_201)
  t.is((await readEvents(w.db, w.org.id)).length, before)
  await acceptDeliveries()
  const filed: string[] = []
  await eventually(async () => {
    for (const one of processes) one.wake()
    await eventually(() => processes.every(({ idle }) => idle))
    // The queue takes only so many deliveries while none is done.
    filed.push(...(await readDeliveries(w.db)).flatMap(({ entryIds }) => entryIds))
    await deleteJobs(w.db, 'notifications.deliver')
    const { inbox, waiting } = await readBacklog(w.db, w.org.id)
    return inbox + waiting === 0
  })
  const events = (await readEvents(w.db, w.org.id)).slice(before)
  t.is(events.length, 1_201)
  t.deepEqual(filed.toSorted(), events.map(({ id }) => id).toSorted())
})

test('dispatch: every workspace is served, also when more workspaces wait than a group holds', async (t) => {
  const w = await withoutWorkers(t)
  await addForeignEvents(w.db, 1_200)
  const process = numberingOf(w)
  t.teardown(() => process.stop())
  process.start()
  await eventually(() => process.idle)
  t.is(await countInbox(w.db), 0)
  t.is((await deleteJobs(w.db, 'notifications.deliver')).length, 1_200)
})

test('dispatch: a workspace whose events cannot be filed holds up no other', async (t) => {
  const w = await withoutWorkers(t)
  const small = { ...w, org: await createOrg(w) }
  for (const one of [w, small]) {
    await makeRule(one)
    await one.org.owner.post(locationsOf(one), { values: { name: 'x' } })
  }
  const acceptDeliveries = await refuseDeliveries(w.db, `new.group_id = '${w.org.id}'`)
  const process = numberingOf(w)
  t.teardown(() => process.stop())
  process.start()
  await eventually(() => process.idle)
  t.deepEqual(await readBacklog(w.db, small.org.id), { inbox: 0, waiting: 0, queue: 1 })
  t.deepEqual(await readBacklog(w.db, w.org.id), { inbox: 1, waiting: 0, queue: 0 })
  await acceptDeliveries()
  process.wake()
  await eventually(() => process.idle)
  t.deepEqual(await readBacklog(w.db, w.org.id), { inbox: 0, waiting: 0, queue: 1 })
})

test('dispatch: a process numbers events for unknown subscribers, and leaves their delivery to processes that know them', async (t) => {
  const w = await withoutWorkers(t)
  const rule = await makeRule(w)
  const later = { workspaceId: w.org.id, subscriber: 'later', id: rule }
  await w.worker.database.transaction((tx) => listen(tx, later, [{ objectType: 'locations', event: 'created' }]))
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  const { notifications, flows } = subscriptions
  if (!notifications || !flows) return t.fail('A subscriber is missing')
  const [old, next] = [numberingOf(w, { notifications }), numberingOf(w, { notifications, later: flows })]
  t.teardown(() => Promise.all([old.stop(), next.stop()]))
  old.wake()
  await eventually(() => old.idle)
  t.deepEqual(await readBacklog(w.db, w.org.id), { inbox: 0, waiting: 1, queue: 0 })
  await w.worker.database.transaction((tx) => listen(tx, later, []))
  await w.org.owner.post(locationsOf(w), { values: { name: 'y' } })
  old.wake()
  await eventually(() => old.idle)
  t.deepEqual(await readBacklog(w.db, w.org.id), { inbox: 0, waiting: 1, queue: 1 })
  next.wake()
  await eventually(() => next.idle)
  t.is((await readBacklog(w.db, w.org.id)).waiting, 0)
})

test('dispatch: what a process of the previous release announces is delivered, by it and by this release', async (t) => {
  const w = await withoutWorkers(t)
  const rule = await makeRule(w)
  const first = await announceAsBefore(w.db, w.org.id)
  t.deepEqual(await takeAsBefore(w.db, w.org.id), [first])
  const second = await announceAsBefore(w.db, w.org.id)
  const process = numberingOf(w)
  t.teardown(() => process.stop())
  process.wake()
  await eventually(() => process.idle)
  t.like(await readDeliveries(w.db), [{ entryIds: [second], listenerIds: [rule] }])
  t.deepEqual(await readBacklog(w.db, w.org.id), { inbox: 0, waiting: 0, queue: 1 })
})

test('dispatch: a signal that names a workspace numbers its events alone, and any other signal those of all', async (t) => {
  const w = await withoutWorkers(t)
  const small = { ...w, org: await createOrg(w) }
  await addEvents(w.db, w.org.id, 3)
  await addEvents(w.db, small.org.id, 3)
  const process = numberingOf(w)
  t.teardown(() => process.stop())
  process.wake([`${inboxSignal}/${small.org.id}`])
  await eventually(() => process.idle)
  t.is((await readBacklog(w.db, small.org.id)).inbox, 0)
  t.is((await readBacklog(w.db, w.org.id)).inbox, 3)
  process.wake([`${inboxSignal}/${small.org.id}`, inboxSignal])
  await eventually(() => process.idle)
  t.is((await readBacklog(w.db, w.org.id)).inbox, 0)
})
