import test from 'ava'
import { subscriptions } from '#shared/features.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { flood } from '#test/platform/events/flood.ts'
import { createOrg } from '#test/support/factories.ts'
import { waitedFor } from '#test/support/waiting.ts'
import { world } from '#test/support/world.ts'
import { EventDispatcher } from '#workers/platform/events/dispatcher.ts'

const moment = () => new Promise((resolve) => setTimeout(resolve, 5))

/** Changes of one workspace, many times what is handed on at once. */
const many = 5_000

test('fairness: a workspace’s change is handed on in its turn, while most of another’s flood waits in the outbox', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await w.db.query(`truncate event_outbox; delete from pgboss.job where name = 'notifications.deliver'`)
    await w.close()
  })
  await w.worker.pools.stop(0)
  const small = { ...w, org: await createOrg(w) }
  for (const one of [w, small]) await makeRule(one)
  await flood(w, many)
  await small.org.owner.post(locationsOf(small), { values: { name: 'x' } })
  const dispatcher = new EventDispatcher(
    { db: w.worker.database, jobQueue: w.worker.jobQueue, log: createLogger('test', 'silent') },
    subscriptions,
  )
  t.teardown(() => dispatcher.stop())
  dispatcher.start()
  const placesOf = async (workspaceId: string) =>
    (
      await w.db.query(
        `select (select count(*)::integer from event_outbox where workspace_id = $1::uuid) as outbox,
           (select count(*)::integer from pgboss.job where name = 'notifications.deliver' and group_id = $1::text) as queue`,
        [workspaceId],
      )
    ).rows[0]
  while (!dispatcher.idle) await moment()
  t.deepEqual(await placesOf(small.org.id), { outbox: 0, queue: 1 })
  const { outbox, queue } = await placesOf(w.org.id)
  t.is(outbox + queue, many + 1)
  t.true(outbox > many / 2, `${queue} are handed on`)
})

test('fairness: a workspace’s notification comes while no other of another’s flood can, and each of the flood comes once', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const small = { ...w, org: await createOrg(w) }
  for (const one of [w, small]) await makeRule(one)
  // A delivery of the flood waits in the middle of its statement.
  const holder = await w.db.connect()
  await holder.query('select pg_advisory_lock(1)')
  await holder.query(`create function hold() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      return new;
    end $$;
    create trigger hold before insert on notifications for each row when (new.workspace_id = '${w.org.id}') execute function hold()`)
  await flood(w, many)
  await waitedFor(w.db, holder)
  for (const name of ['x', 'y']) {
    const { id } = (await small.org.owner.post(locationsOf(small), { values: { name } })).data
    const newest = async () => (await small.org.owner.get(inboxOf(small))).data.notifications[0]?.record_id
    while ((await newest()) !== id) await moment()
  }
  t.is((await w.db.query('select from notifications where workspace_id = $1', [w.org.id])).rowCount, 0)
  await holder.query('select pg_advisory_unlock(1)')
  holder.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, many + 1)
  t.is((await small.org.owner.get(`${inboxOf(small)}/unread-count`)).data.count, 2)
})
