import test, { type ExecutionContext } from 'ava'
import { subscriptions } from '#shared/features.ts'
import { takeDispatches } from '#shared/platform/events/store.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import {
  addForeignDispatches,
  addMembers,
  addUnknownListener,
  copyDispatches,
  deleteDispatches,
  readDeliveredEntries,
  readDispatches,
  refuseDeliveries,
} from '#test/platform/events/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { lockTable } from '#test/support/locks.ts'
import { countRows, deleteJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'
import { EventDispatcher } from '#workers/platform/events/dispatcher.ts'

const shared = shareWorld(test, {}, { pools: [] })

/** A world without workers. */
async function withoutWorkers(t: ExecutionContext): Promise<World> {
  const w = await shared()
  t.teardown(() => deleteDispatches(w.db))
  return w
}

test('dispatch: a dispatch holds what changed, the listeners and the cause', async (t) => {
  const w = await withoutWorkers(t)
  const rule = await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } }, { 'x-request-id': 'a-request' })
  const [filed] = await readDispatches(w.db)
  t.like(filed, { workspace_id: w.org.id, object_type: 'locations', event: 'created', listeners: { notifications: [rule] } })
  t.deepEqual(filed?.cause, { actorId: w.org.ownerId, actorType: 'user', requestId: 'a-request', depth: 0, kind: 'request', id: null })
})

test('dispatch: a change makes one dispatch to its present listeners, and none without listeners', async (t) => {
  const w = await withoutWorkers(t)
  const { owner } = w.org
  const one = (await owner.post(locationsOf(w), { values: { name: 'x' } })).data
  t.deepEqual(await readDispatches(w.db), [])
  const rules = [await makeRule(w, { event: 'updated' }), await makeRule(w, { event: 'updated' })]
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await makeRule(w, { event: 'updated' })
  await owner.post(locationsOf(w), { values: { name: 'z' } })
  const { entries } = (await owner.get(`${w.org.path}/audit?action=record.updated`)).data
  const [first, ...others] = await readDispatches(w.db)
  t.deepEqual(others, [])
  t.deepEqual(first?.entry_ids, [entries[0].id])
  t.deepEqual(first?.listeners, { notifications: rules.toSorted() })
})

test('dispatch: a write that is rolled back emits nothing', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w, { object_type: 'invoices' })
  const invoices = `${w.org.path}/records/invoices`
  await w.org.owner.post(invoices, { values: { number: 'A' } })
  t.is((await w.org.owner.post(invoices, { values: { number: 'A' } })).status, 409)
  t.is((await readDispatches(w.db)).length, 1)
})

/** Waits until every change has been dispatched. */
async function waitForDispatches(w: World): Promise<void> {
  await eventually(async () => (await readDispatches(w.db)).length === 0)
}

test('dispatch: an import of 500 rows makes a few dispatches of many changes, and reaches each of many members', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await addMembers(w.db, w.org.id, 99)
  await makeRule(w)
  const rows = Array.from({ length: 500 }, (_, index) => `place ${index}`)
  const file = `name\n${rows.join('\n')}\n`
  const lock = await lockTable(t, w.db, 'notification_rules')
  t.like((await w.org.owner.post(`${locationsOf(w)}/import`, file, { 'content-type': 'text/csv' })).data, { created: 500 })
  await waitForDispatches(w)
  const filed = await readDeliveredEntries(w.db)
  t.true(filed.length <= 10, `${filed.length} dispatches`)
  t.is(new Set(filed.flat()).size, 500)
  await lock.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  t.is(await countRows(w.db, 'notifications'), 100 * 500)
})

test('dispatch: many processes dispatch each change once, in groups, also when one of them fails meanwhile', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await copyDispatches(w.db, 1_200)
  const ids = (await readDispatches(w.db)).map(({ id }) => id)
  // The queue refuses after the dispatches were taken.
  const acceptDeliveries = await refuseDeliveries(w.db)
  const log = createLogger('test', 'silent')
  const queue = w.worker.jobQueue
  const dispatchers = Array.from({ length: 4 }, () => new EventDispatcher({ db: w.worker.database, jobQueue: queue, log }, subscriptions))
  t.teardown(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.stop())))
  for (const dispatcher of dispatchers) dispatcher.start()
  await eventually(() => dispatchers.every(({ idle }) => idle))
  t.is((await readDispatches(w.db)).length, 1201)
  await acceptDeliveries()
  const filed: string[] = []
  await eventually(async () => {
    for (const dispatcher of dispatchers) dispatcher.wake()
    await eventually(() => dispatchers.every(({ idle }) => idle))
    // The queue takes only so many deliveries while none is done.
    filed.push(...(await deleteJobs(w.db, 'notifications.deliver')))
    return (await readDispatches(w.db)).length === 0
  })
  t.deepEqual(filed.toSorted(), ids)
})

test('dispatch: every workspace is served, also when more workspaces wait than a group holds', async (t) => {
  const w = await withoutWorkers(t)
  await addForeignDispatches(w.db, 1_200)
  const { db, queue } = { db: w.worker.database, queue: w.worker.jobQueue }
  const dispatcher = new EventDispatcher({ db, jobQueue: queue, log: createLogger('test', 'silent') }, subscriptions)
  t.teardown(() => dispatcher.stop())
  dispatcher.start()
  await eventually(() => dispatcher.idle)
  t.deepEqual(await readDispatches(w.db), [])
  t.is((await deleteJobs(w.db, 'notifications.deliver')).length, 1_200)
})

test('dispatch: a process leaves dispatches to unknown subscribers to other processes', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await w.org.owner.post(locationsOf(w), { values: { name: 'y' } })
  const [first, second] = await readDispatches(w.db)
  await addUnknownListener(w.db, first?.id ?? '', 'later')
  const taken = (known: string[]) =>
    w.worker.database.transaction((tx) => tx.query(takeDispatches({ known, workspaceIds: [w.org.id], perWorkspace: 10 })))
  t.deepEqual(
    (await taken(['notifications'])).map(({ id }) => id),
    [second?.id],
  )
  t.deepEqual(
    (await taken(['notifications', 'later'])).map(({ id }) => id),
    [first?.id],
  )
})
