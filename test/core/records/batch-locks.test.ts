import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('batch locks: an atomic batch locks its records in the order of their ids, and computes anew what changed before it had them', async (t) => {
  const w = await shared()
  const { owner, path, id: orgId } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const field = async (key: string) =>
    (await owner.post(`${path}/fields`, { entity_type: 'deals', key, label: key, type: 'number' })).data.id
  await field('price')
  await field('count')
  t.is((await owner.put(`${path}/fields/${await field('total')}/formula`, { formula: 'price * count' })).status, 200)
  const make = async (price: number): Promise<string> => (await owner.post(`${path}/records/deals`, { values: { price } })).data.id
  const [low, high] = [await make(2), await make(3)].toSorted()
  const table = `ws_${orgId.replaceAll('-', '')}.deals`
  const { rows } = await w.db.query(
    `select column_name from information_schema.columns where table_schema = $1 and column_name like 'price%'`,
    [table.split('.')[0]],
  )
  const holder = await w.db.connect()
  t.teardown(() => holder.release(true))
  await holder.query('begin')
  await holder.query(`select from ${table} where id = $1 for update`, [low])
  const operations = [high, low].map((id) => ({ op: 'update', id, values: { count: 10 } }))
  const answer = owner.post(`${path}/records/deals/batch`, { operations, atomic: true })
  const isWaiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await w.db.query(isWaiting)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is((await w.db.query(`select from ${table} where id = $1 for update skip locked`, [high])).rowCount, 1)
  await holder.query(`update ${table} set ${rows[0].column_name} = 100, updated_at = updated_at + interval '1 second' where id = $1`, [low])
  await holder.query('commit')
  const { status, data, text } = await answer
  t.is(status, 200, text)
  const totals: number[] = data.results.map(({ record }: { record: { values: { total: number } } }) => record.values.total)
  t.is(totals[1], 1_000)
})
