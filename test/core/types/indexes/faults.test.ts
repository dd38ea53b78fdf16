import test, { type ExecutionContext } from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { blockIndexName, countBuilders, countBuildFailures, countInvalidIndexes, dropBlockingTable } from '#test/core/types/indexes/rows.ts'
import { type UsedWorld, usedWorld } from '#test/core/types/indexes/used.ts'
import { eventually } from '#test/support/eventually.ts'
import { beginSnapshot } from '#test/support/locks.ts'
import { countRows } from '#test/support/rows.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

/** A transaction that keeps every build from completing and nothing else: its snapshot may still read rows that the index does not hold. */
const holdBuilds = (t: ExecutionContext, { db }: UsedWorld) => beginSnapshot(t, db)

const buildersGone = ({ db }: UsedWorld) => eventually(async () => (await countBuilders(db)) === 0)
const shownState = async (w: UsedWorld) => (await callKontor(w, 'indexes', '--json')).json.indexes[0].state

for (const [field, use, lead, built] of [
  ['count', 'equality', undefined, 'value count'],
  ['count', 'range', 'stage', 'descending stage, count'],
] as const) {
  test(`faults: an index ${built} whose builder is killed is built again, and nothing of the first build stays`, async (t) => {
    const w = await usedWorld(t)
    await w.use(field, use, 500, lead)
    t.is(await shownState(w), 'wanted')
    const holder = await holdBuilds(t, w)
    const worker = await startWorkerProcess(t, w, 'schedule')
    await holder.waitedFor()
    t.is(await shownState(w), 'building')
    t.deepEqual(await w.follow(), [], 'only one process builds')
    await worker.kill('SIGKILL')
    await buildersGone(w)
    t.is(await countInvalidIndexes(w.db), 1)
    t.is(await shownState(w), 'wanted')
    await holder.release()
    t.deepEqual(await w.follow(), [`build ${built}`])
    t.deepEqual(await w.indexes(), [built])
    t.is(await countInvalidIndexes(w.db), 0)
    t.is(await shownState(w), 'ready')
  })
}

test('faults: a builder that is stopped ends at once', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 500)
  const holder = await holdBuilds(t, w)
  const stop = new AbortController()
  const following = w.follow(stop.signal)
  await holder.waitedFor()
  stop.abort()
  await t.throwsAsync(following, { name: 'AbortError' })
  await buildersGone(w)
  await holder.release()
  t.deepEqual(await w.follow(), ['build value count'], 'the next run continues the build without a failure')
})

const deletions: Readonly<Record<string, (w: UsedWorld) => string>> = {
  field: ({ fields }) => fields.count ?? '',
  'record type': ({ org }) => `${org.path}/types/deals`,
}

for (const [thing, pathOf] of Object.entries(deletions)) {
  test(`faults: a ${thing} whose index is being built can be deleted, and nothing of it stays`, async (t) => {
    const w = await usedWorld(t)
    await w.use('count', 'equality', 500)
    const holder = await holdBuilds(t, w)
    const following = w.follow()
    await holder.waitedFor()
    t.is((await w.org.owner.delete(pathOf(w))).status, 204)
    t.deepEqual(await following, [])
    await holder.release()
    await w.drain()
    t.deepEqual(await w.follow(), [])
    t.is(await countInvalidIndexes(w.db), 0)
    for (const table of ['field_indexes', 'field_uses']) t.is(await countRows(w.db, table), 0, table)
  })
}

test('faults: a change of a type aborts the build of its index, which is repeated later', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 500)
  const holder = await holdBuilds(t, w)
  const following = w.follow()
  await holder.waitedFor()
  const field = { entity_type: 'deals', key: 'late', label: 'Late', type: 'string' }
  t.is((await w.org.owner.post(`${w.org.path}/fields`, field)).status, 201)
  t.deepEqual(await following, [])
  await holder.release()
  t.is(await shownState(w), 'failed')
  t.deepEqual(await w.follow(), [], 'not at once, so that changes and builds do not block each other')
  w.clock.days = 2 / 1_440
  t.deepEqual(await w.follow(), ['build value count'])
  t.is(await shownState(w), 'ready')
  t.is(await countInvalidIndexes(w.db), 0)
})

test('faults: a failed build is repeated after growing delays', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 5_000)
  const blocking = await blockIndexName(w.db, w.org.id, w.idOf('count'))
  const minute = 1 / 1_440
  const tries: number[] = []
  for (let minutes = 0; minutes < 20; minutes++) {
    w.clock.days = minutes * minute
    const before = await countBuildFailures(w.db)
    await w.follow()
    if ((await countBuildFailures(w.db)) > before) tries.push(minutes)
  }
  t.deepEqual(tries, [0, 1, 3, 7, 15])
  t.regex((await callKontor(w, 'indexes')).out, /deals\.count +value +failed .* already exists; again at /)
  await dropBlockingTable(w.db, blocking)
  w.clock.days = 1
  t.deepEqual(await w.follow(), ['build value count'])
})
