import test from 'ava'
import { eventMaintenance } from '#shared/platform/events/maintenance.ts'
import { addNumberedEvents, deleteDeliveries, keepWaiting, readEvents } from '#test/platform/events/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })
const [hours, keptSeconds] = [3_600, 7_200]

test('retention: events are deleted once they are older than their time, from the first on, and numbers go on', async (t) => {
  const w = await shared()
  await deleteDeliveries(w.db)
  const others = await createOrg(w)
  const [task] = eventMaintenance
  const clean = () =>
    task?.run({ db: w.worker.database, config: { eventsKeepSeconds: keptSeconds }, now: () => new Date() }, AbortSignal.timeout(60_000))
  // The fourth one committed late: it is older than the third.
  await addNumberedEvents(w.db, w.org.id, [5 * hours, 3 * hours, hours, 4 * hours, 0])
  await addNumberedEvents(w.db, others.id, [5 * hours, 4 * hours])
  await keepWaiting(w.db, others.id, 2)
  const left = async (workspaceId: string) => (await readEvents(w.db, workspaceId)).map(({ seq }) => seq)
  await clean()
  t.deepEqual(await left(w.org.id), [3, 4, 5])
  t.deepEqual(await left(others.id), [2])
  await deleteDeliveries(w.db)
  await clean()
  t.deepEqual(await left(others.id), [])
  await addNumberedEvents(w.db, others.id, [0])
  t.deepEqual(await left(others.id), [3])
})

test('retention: more old events than one statement deletes are all deleted', async (t) => {
  const w = await shared()
  const { id } = await createOrg(w)
  await addNumberedEvents(
    w.db,
    id,
    Array.from({ length: 2_500 }, () => 5 * hours),
  )
  const [task] = eventMaintenance
  await task?.run({ db: w.worker.database, config: { eventsKeepSeconds: keptSeconds }, now: () => new Date() }, AbortSignal.timeout(60_000))
  t.deepEqual(await readEvents(w.db, id), [])
})
