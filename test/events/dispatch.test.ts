import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { inboxOf, locationsOf, makeRule } from '#test/notifications/make-rule.ts'
import { type World, world } from '#test/support/world.ts'

/** A world in which nobody works off jobs. */
async function withoutWorkers(t: ExecutionContext): Promise<World> {
  const w = await world()
  t.teardown(async () => {
    await w.db.query('truncate pgboss.job')
    await w.close()
  })
  await w.worker.pools.stop(0)
  return w
}

const dispatches = async (w: World) =>
  (await w.db.query(`select id, data from pgboss.job where name = 'events.dispatch' order by created_on`)).rows.map(({ data }) => data)

test('a dispatch is the job that pg-boss would have sent', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } }, { 'x-request-id': 'a-request' })
  const [filed] = (await w.db.query(`select * from pgboss.job where name = 'events.dispatch'`)).rows
  const id = randomUUID()
  await w.api.services.queue.boss.send('events.dispatch', filed.data, { id, group: { id: w.org.id } })
  const [sent] = (await w.db.query('select * from pgboss.job where id = $1', [id])).rows
  const same = ({ id: _, created_on: since, start_after, keep_until, ...job }: Record<string, unknown>) => ({
    ...job,
    waits: Number(start_after) - Number(since),
    kept: Number(keep_until) - Number(since),
  })
  t.deepEqual(same(filed), same(sent))
  const cause = { actorId: w.org.ownerId, actorType: 'user', requestId: 'a-request', depth: 0 }
  t.like(filed.data, { workspaceId: w.org.id, cause, payload: { workspaceId: w.org.id, objectType: 'locations', event: 'created' } })
})

test('a change makes one dispatch to those who listen to it at that moment, and none when nobody does', async (t) => {
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
  t.deepEqual(first.payload.entryIds, [entries[0].id])
  t.deepEqual(first.payload.listeners, { notifications: rules.toSorted() })
})

test('a write that is rolled back emits nothing', async (t) => {
  const w = await withoutWorkers(t)
  await makeRule(w, { object_type: 'invoices' })
  const invoices = `${w.org.path}/records/invoices`
  await w.org.owner.post(invoices, { values: { number: 'A' } })
  t.is((await w.org.owner.post(invoices, { values: { number: 'A' } })).status, 409)
  t.is((await dispatches(w)).length, 1)
})

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

test('an import of 500 rows is a handful of dispatches of many changes, and reaches all of many members', async (t) => {
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
  const filed = await dispatches(w)
  t.true(filed.length <= 10, `${filed.length} dispatches`)
  t.is(new Set(filed.flatMap(({ payload }) => payload.entryIds)).size, 500)
  await holder.query('commit')
  holder.release()
  await w.drain()
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  t.is((await w.db.query('select count(*)::integer as count from notifications')).rows[0].count, 100 * 500)
})

test('a dispatch that is done again makes no job twice', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await makeRule(w)
  await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  await w.drain()
  const [{ id }] = (await w.db.query(`select id from pgboss.job where name = 'events.dispatch'`)).rows
  await w.db.query(`update pgboss.job set state = 'created', completed_on = null where id = $1 and name = 'events.dispatch'`, [id])
  await w.drain()
  const { rows } = await w.db.query(`select id, state from pgboss.job where name = 'notifications.deliver'`)
  t.deepEqual(rows, [{ id, state: 'completed' }])
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 1)
})
