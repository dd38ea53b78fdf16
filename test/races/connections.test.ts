import test from 'ava'
import { made, makeType } from '#test/races/arena.ts'
import { world } from '#test/support/world.ts'

test('connections: work that holds a connection never waits for a reader that waits for one', async (t) => {
  const w = await world({ DATABASE_CONNECTIONS: '2' }, [])
  t.teardown(w.close)
  const { owner, ownerId, path, id: orgId } = w.org
  const { records } = await makeType(w.org, 'parts', { note: {} })
  const place = `${path}/records/locations/${(await made(owner.post(`${path}/records/locations`, { values: { name: 'x' } }))).id}`
  const [one, other] = [await w.db.connect(), await w.db.connect()]
  t.teardown(() => {
    for (const client of [one, other]) client.release(true)
  })
  for (const client of [one, other]) await client.query('begin')
  await one.query(`insert into idempotency_records (principal_id, path, key, body_hash) values ($1, $2, 'k', '')`, [
    ownerId,
    `POST ${records}`,
  ])
  await other.query(`select from ws_${orgId.replaceAll('-', '')}.locations for update`)
  const waiting = async (count: number) => {
    const query = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    while ((await w.db.query(query)).rowCount !== count) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  // It has its connection and waits for another request of the same key.
  const creating = owner.post(records, { values: { note: 'x' } }, { 'idempotency-key': 'k' })
  await waiting(1)
  // Everybody forgets the types of the workspace. Whoever changes a location reads those again, takes the last connection and waits.
  await w.db.query('update record_types set label = label where workspace_id = $1', [orgId])
  const changing = owner.put(`${place}/values`, { values: { name: 'y' } })
  await waiting(2)
  // Its look at the type waits for a connection, and the creation needs to look at the type too.
  const reading = owner.get(records)
  while (w.api.services.database.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await one.query('rollback')
  t.is((await creating).status, 201)
  await other.query('commit')
  t.deepEqual([(await changing).status, (await reading).status], [204, 200])
})
