import test from 'ava'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { made, makeType } from '#test/races/arena.ts'
import { outdateTypes } from '#test/races/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { holdIdempotencyKey, lockRows } from '#test/support/locks.ts'
import { countLockWaits } from '#test/support/waiting.ts'
import { world } from '#test/support/world.ts'

test('connections: work with a connection never waits for a reader that waits for a connection', async (t) => {
  const w = await world({ DATABASE_CONNECTIONS: '4' }, [])
  t.teardown(w.close)
  const { owner, ownerId, path, id: orgId } = w.org
  const { records } = await makeType(w.org, 'parts', { note: {} })
  const place = `${path}/records/locations/${(await made(owner.post(`${path}/records/locations`, { values: { name: 'x' } }))).id}`
  const one = await holdIdempotencyKey(t, w.db, ownerId, `POST ${records}`, 'k')
  const other = await lockRows(t, w.db, `${schemaOf(orgId)}.locations`)
  const waiting = (count: number) => eventually(async () => (await countLockWaits(w.db)) === count)
  // It has its connection and waits for another request with the same key.
  const creating = owner.post(records, { values: { note: 'x' } }, { 'idempotency-key': 'k' })
  await waiting(1)
  // All caches forget the types of the workspace. The next change of a location reads them again, takes the last connection and waits.
  await outdateTypes(w.db, orgId)
  const changing = owner.put(`${place}/values`, { values: { name: 'y' } })
  await waiting(2)
  // Its read of the type waits for a connection, and the creation must read the type too.
  const reading = owner.get(records)
  await eventually(() => w.api.services.database.waiting > 0)
  await one.abort()
  t.is((await creating).status, 201)
  await other.release()
  t.deepEqual([(await changing).status, (await reading).status], [204, 200])
})
