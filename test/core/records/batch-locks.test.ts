import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { isRecordLocked, setStoredValue } from '#test/core/records/rows.ts'
import { lockRow } from '#test/support/locks.ts'
import { readColumn } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('batch locks: an atomic batch locks its records in the order of their ids, and recomputes those that changed before it had the lock', async (t) => {
  const w = await shared()
  const { owner, path, id: orgId } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const field = async (key: string) =>
    (await owner.post(`${path}/fields`, { entity_type: 'deals', key, label: key, type: 'number' })).data.id
  await field('price')
  await field('count')
  t.is((await owner.put(`${path}/fields/${await field('total')}/formula`, { formula: 'price * count' })).status, 200)
  const make = async (price: number): Promise<string> => (await owner.post(`${path}/records/deals`, { values: { price } })).data.id
  const [low = '', high = ''] = [await make(2), await make(3)].toSorted()
  const table = `${schemaOf(orgId)}.deals`
  const column = await readColumn(w.db, orgId, 'deals', 'price')
  const lock = await lockRow(t, w.db, table, low)
  const operations = [high, low].map((id) => ({ op: 'update', id, values: { count: 10 } }))
  const answer = owner.post(`${path}/records/deals/batch`, { operations, atomic: true })
  await lock.waitedFor()
  t.false(await isRecordLocked(w.db, orgId, 'deals', high))
  await setStoredValue(lock, table, column, low, 100)
  await lock.release()
  const { status, data, text } = await answer
  t.is(status, 200, text)
  const totals: number[] = data.results.map(({ record }: { record: { values: { total: number } } }) => record.values.total)
  t.is(totals[1], 1_000)
})
