import { queryObjects } from 'node:v8'
import test from 'ava'
import { world } from '#test/support/world.ts'

test('a job that has ended leaves nothing in its worker, however long it might have taken', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const exportOne = async () => t.is((await w.org.owner.get(`${w.org.path}/records/locations/export`)).status, 200)
  await exportOne()
  await w.drain()
  // Garbage is collected before it counts.
  const signals = () => Number(queryObjects(AbortSignal))
  const before = signals()
  for (let count = 0; count < 50; count++) await exportOne()
  await w.drain()
  const left = signals() - before
  t.true(left < 10, `${left} signals are left of 50 jobs`)
})
