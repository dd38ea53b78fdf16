import test, { type ExecutionContext } from 'ava'
import { inboxOf, locationsOf, makeRule } from '#test/core/notifications/make-rule.ts'
import { countNotified, holdNotifications, readAuditEntryId } from '#test/platform/events/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { countOpenJobs, countRows } from '#test/support/rows.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'
import { type World, world } from '#test/support/world.ts'

/** Creates so many records, twenty at a time. */
async function createRecords(t: ExecutionContext, w: World, count: number): Promise<void> {
  let left = count
  const one = async () => {
    while (left-- > 0) t.is((await w.org.owner.post(locationsOf(w), { values: { name: 'x' } })).status, 201)
  }
  await Promise.all(Array.from({ length: 20 }, one))
}

test('fan out: 500 changes reach 20 members once each, also when the worker is killed meanwhile', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await w.worker.pools.stop(0)
  const members = await Promise.all(Array.from({ length: 19 }, () => createMember(w, w.org)))
  await makeRule(w)
  await createRecords(t, w, 500)
  // Deliveries of the later half wait in the middle of their statement.
  const hold = await holdNotifications(w.db, `new.id > '${await readAuditEntryId(w.db, 250)}'`)
  await startWorkerProcess(t, w, 'flows')
  const first = await startWorkerProcess(t, w, 'data')
  await hold.reached()
  const early = await countRows(w.db, 'notifications')
  t.true(early > 0 && early < 10_000, `${early} items before the kill`)
  await first.kill('SIGKILL')
  await hold.release()
  await startWorkerProcess(t, w, 'data')
  await eventually(async () => (await countOpenJobs(w.db)) === 0)
  t.is(await countNotified(w.db), 10_000)
  for (const client of [w.org.owner, ...members.map((member) => member.client)]) {
    t.is((await client.get(`${inboxOf(w)}/unread-count`)).data.count, 500)
  }
})
