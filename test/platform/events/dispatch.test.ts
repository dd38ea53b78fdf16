import test, { type ExecutionContext } from 'ava'
import { subscriptions } from '#shared/features.ts'
import { takeDispatches } from '#shared/platform/events/outbox.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'
import { EventDispatcher } from '#workers/platform/events/dispatcher.ts'

const shared = shareWorld(test, {}, { pools: [] })

/** A world in which nobody works off jobs. */
async function withoutWorkers(t: ExecutionContext): Promise<World> {
  const w = await shared()
  t.teardown(async () => void (await w.db.query('truncate event_outbox')))
  return w
}

const dispatches = async (w: World) => (await w.db.query('select * from event_outbox order by id')).rows

test('dispatch: a dispatch says what changed, who listened and who caused it', async (t) => {
  const w = await withoutWorkers(t)
  const rule = await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } }, { 'x-request-id': 'a-request' })
  const [filed] = await dispatches(w)
  t.like(filed, { workspace_id: w.org.id, object_type: 'locations', event: 'created', listeners: { notifications: [rule] } })
  t.deepEqual(filed.cause, { actorId: w.org.ownerId, actorType: 'user', requestId: 'a-request', depth: 0 })
})

test('dispatch: a change makes one dispatch to those who listen to it at that moment, and none when nobody does', async (t) => {
  const w = await withoutWorkers(t)
  const { owner } = w.org
  const one = (await owner.post(locationsOf(w), { values: { name: 'x' } })).data
  t.deepEqual(await dispatches(w), [])
  const rules = [await makeRule(w, { event: 'updated' }), await makeRule(w, { event: 'updated' })]
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await owner.put(`${locationsOf(w)}/${one.id}/values`, { values: { name: 'y' } })
  await makeRule(w, { event: 'updated' })
  await owner.post(locationsOf(w), { values: { name: 'z' } })
  const { entries } = (await owner.get(`${w.org.path}/audit?action=record.updated`)).data
  const [first, ...others] = await dispatches(w)
  t.deepEqual(others, [])
  t.deepEqual(first.entry_ids, [entries[0].id])
  t.deepEqual(first.listeners, { notifications: rules.toSorted() })
})

test('dispatch: a write that is rolled back emits nothing', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w, { object_type: 'invoices' })
  const invoices = `${w.org.path}/records/invoices`
  await w.org.owner.post(invoices, { values: { number: 'A' } })
  t.is((await w.org.owner.post(invoices, { values: { number: 'A' } })).status, 409)
  t.is((await dispatches(w)).length, 1)
})

/** Waits until every change has been handed on. */
async function handedOn(w: World): Promise<void> {
  while ((await dispatches(w)).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Adds people to the workspace who never sign in. */
const addMembers = (w: World, count: number) =>
  w.db.query(
    `with people as (
       insert into users (id, email, name, password_hash)
       select uuidv7(), n || '@example.com', 'Member ' || n, 'none' from generate_series(1, $2::integer) as n returning id
     )
     insert into members (workspace_id, user_id) select $1, id from people`,
    [w.org.id, count],
  )

test('dispatch: an import of 500 rows is a handful of dispatches of many changes, and reaches all of many members', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await addMembers(w, 99)
  await makeRule(w)
  const rows = Array.from({ length: 500 }, (_, index) => `place ${index}`)
  const file = `name\n${rows.join('\n')}\n`
  const holder = await w.db.connect()
  await holder.query('begin')
  await holder.query('lock table notification_rules in access exclusive mode')
  t.like((await w.org.owner.post(`${locationsOf(w)}/import`, file, { 'content-type': 'text/csv' })).data, { created: 500 })
  await handedOn(w)
  const { rows: filed } = await w.db.query(
    `select data -> 'payload' -> 'entryIds' as entry_ids from pgboss.job where name = 'notifications.deliver'`,
  )
  t.true(filed.length <= 10, `${filed.length} dispatches`)
  t.is(new Set(filed.flatMap(({ entry_ids }) => entry_ids)).size, 500)
  await holder.query('commit')
  holder.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  t.is((await w.db.query('select count(*)::integer as count from notifications')).rows[0].count, 100 * 500)
})

test('dispatch: many processes hand each change on once, in lots, also when one of them fails in between', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await w.db.query(`insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
    select workspace_id, object_type, event, entry_ids, listeners, cause from event_outbox, generate_series(1, 1200)`)
  const ids = (await dispatches(w)).map(({ id }) => id)
  // Filing fails as long as the trigger stands, after the dispatches were taken.
  await w.db.query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger refuse before insert on pgboss.job_common for each row when (new.name = 'notifications.deliver') execute function refuse()`)
  const log = createLogger('test', 'silent')
  const queue = w.worker.jobQueue
  const dispatchers = Array.from({ length: 4 }, () => new EventDispatcher({ db: w.worker.database, jobQueue: queue, log }, subscriptions))
  t.teardown(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.stop())))
  for (const dispatcher of dispatchers) dispatcher.start()
  while (dispatchers.some(({ idle }) => !idle)) await new Promise(setImmediate)
  t.is((await dispatches(w)).length, 1201)
  await w.db.query('drop trigger refuse on pgboss.job_common')
  const filed: string[] = []
  while ((await dispatches(w)).length > 0) {
    for (const dispatcher of dispatchers) dispatcher.wake()
    while (dispatchers.some(({ idle }) => !idle)) await new Promise(setImmediate)
    // Where nobody delivers, the queue gets no more of them.
    const { rows: jobs } = await w.db.query(`delete from pgboss.job where name = 'notifications.deliver' returning id`)
    filed.push(...jobs.map(({ id }) => id))
  }
  t.deepEqual(filed.toSorted(), ids)
})

test('dispatch: every workspace has its turn, also when more of them wait than a lot has room for', async (t) => {
  const w = await withoutWorkers(t)
  await w.db.query(`insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
    select uuidv7(), 'locations', 'created', array[uuidv7()], '{"notifications": ["01a1fdd7-bd07-7f9b-9a68-4e70ec8fc5b4"]}',
      '{"actorId": null, "actorType": "system", "requestId": "many", "depth": 0}'
    from generate_series(1, 1200)`)
  const { db, queue } = { db: w.worker.database, queue: w.worker.jobQueue }
  const dispatcher = new EventDispatcher({ db, jobQueue: queue, log: createLogger('test', 'silent') }, subscriptions)
  t.teardown(() => dispatcher.stop())
  dispatcher.start()
  while (!dispatcher.idle) await new Promise(setImmediate)
  t.deepEqual(await dispatches(w), [])
  t.is((await w.db.query(`delete from pgboss.job where name = 'notifications.deliver'`)).rowCount, 1200)
})

test('dispatch: a dispatch to a subscriber that a process does not know is left to one that does', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await w.org.owner.post(locationsOf(w), { values: { name: 'y' } })
  const [first, second] = await dispatches(w)
  await w.db.query(`update event_outbox set listeners = listeners || '{"later": []}' where id = $1`, [first.id])
  const taken = (known: string[]) => w.worker.database.transaction((tx) => takeDispatches(tx, known, [w.org.id], 10))
  t.deepEqual(
    (await taken(['notifications'])).map(({ id }) => id),
    [second.id],
  )
  t.deepEqual(
    (await taken(['notifications', 'later'])).map(({ id }) => id),
    [first.id],
  )
})
