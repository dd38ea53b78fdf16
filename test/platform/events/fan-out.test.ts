import test, { type ExecutionContext } from 'ava'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { createMember } from '#test/support/factories.ts'
import { waitedFor } from '#test/support/waiting.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { type World, world } from '#test/support/world.ts'

const moment = () => new Promise((resolve) => setTimeout(resolve, 20))

/** Creates so many records, twenty at a time. */
async function createRecords(t: ExecutionContext, w: World, count: number): Promise<void> {
  let left = count
  const one = async () => {
    while (left-- > 0) t.is((await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })).status, 201)
  }
  await Promise.all(Array.from({ length: 20 }, one))
}

/** Lets every delivery of the later half of the items wait in the middle of its statement. */
async function holdLaterHalf(w: World): Promise<{ reached: () => Promise<void>; release: () => Promise<void> }> {
  const client = await w.db.connect()
  const { rows } = await client.query('select id from audit_entries order by id offset 250 limit 1')
  await client.query('select pg_advisory_lock(1)')
  await client.query(`
    create function hold() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      return new;
    end $$;
    create trigger hold before insert on notifications for each row when (new.id > '${rows[0].id}') execute function hold()`)
  return {
    reached: () => waitedFor(w.db, client),
    release: async () => {
      await client.query('select pg_advisory_unlock(1)')
      client.release()
    },
  }
}

test('fan out: 500 changes reach 20 members once each, also when the worker is killed in between', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await w.worker.pools.stop(0)
  const members = await Promise.all(Array.from({ length: 19 }, () => createMember(w, w.org)))
  await makeRule(w)
  await createRecords(t, w, 500)
  const hold = await holdLaterHalf(w)
  await startWorkerProcess(t, w, 'flows')
  const first = await startWorkerProcess(t, w, 'data')
  await hold.reached()
  const early = (await w.db.query('select count(*)::integer as count from notifications')).rows[0].count
  t.true(early > 0 && early < 10_000, `${early} items before the kill`)
  await first.kill('SIGKILL')
  await hold.release()
  await startWorkerProcess(t, w, 'data')
  const open = `select from pgboss.job where state in ('created', 'retry', 'active')`
  while ((await w.db.query(open)).rowCount !== 0) await moment()
  t.is((await w.db.query('select count(distinct (user_id, record_id))::integer as count from notifications')).rows[0].count, 10_000)
  for (const client of [w.org.owner, ...members.map((member) => member.client)]) {
    t.is((await client.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  }
})
