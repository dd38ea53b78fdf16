import test from 'ava'
import type { PoolClient } from 'pg'
import { callKontor } from '#test/bin/call.ts'
import { type UsedWorld, usedWorld } from '#test/core/types/indexes/used.ts'
import { waitedFor } from '#test/support/waiting.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

/** A transaction that holds up the end of every build, and nobody else: it might still look at what is not in the index. */
async function holdBuilds({ db }: UsedWorld): Promise<PoolClient> {
  const holder = await db.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select')
  return holder
}

async function release(holder: PoolClient): Promise<void> {
  await holder.query('commit')
  holder.release()
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 20))
const leftovers = `select from pg_index join pg_class on oid = indexrelid where relname like 'value%' and not indisvalid`
const builders = `select from pg_stat_activity where datname = current_database() and application_name = 'kontor worker indexes'`
const shownState = async (w: UsedWorld) => (await callKontor(w, 'indexes', '--json')).json.indexes[0].state

test('faults: an index whose builder is killed in the middle is made again, and of what it left nothing stays', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 500)
  t.is(await shownState(w), 'wanted')
  const holder = await holdBuilds(w)
  const worker = await startWorkerProcess(t, w, 'schedule')
  await waitedFor(w.db, holder)
  t.is(await shownState(w), 'building')
  t.deepEqual(await w.follow(), [], 'while one builds, others do not')
  await worker.kill('SIGKILL')
  while ((await w.db.query(builders)).rowCount !== 0) await moment()
  t.is((await w.db.query(leftovers)).rowCount, 1)
  t.is(await shownState(w), 'wanted')
  await release(holder)
  t.deepEqual(await w.follow(), ['build value count'])
  t.deepEqual(await w.indexes(), ['value count'])
  t.is((await w.db.query(leftovers)).rowCount, 0)
  t.is(await shownState(w), 'ready')
})

test('faults: a builder that is told to stop in the middle lets go at once', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 500)
  const holder = await holdBuilds(w)
  const stop = new AbortController()
  const following = w.follow(stop.signal)
  await waitedFor(w.db, holder)
  stop.abort()
  await t.throwsAsync(following, { name: 'AbortError' })
  while ((await w.db.query(builders)).rowCount !== 0) await moment()
  await release(holder)
  t.deepEqual(await w.follow(), ['build value count'], 'and whoever comes next goes on with it, as nothing failed')
})

const deletions: Readonly<Record<string, (w: UsedWorld) => string>> = {
  field: ({ fields }) => fields.count ?? '',
  'record type': ({ org }) => `${org.path}/types/deals`,
}

for (const [thing, pathOf] of Object.entries(deletions)) {
  test(`faults: a ${thing} whose index is being built can be deleted, and nothing of it stays`, async (t) => {
    const w = await usedWorld(t)
    await w.use('count', 'equality', 500)
    const holder = await holdBuilds(w)
    const following = w.follow()
    await waitedFor(w.db, holder)
    t.is((await w.org.owner.delete(pathOf(w))).status, 204)
    t.deepEqual(await following, [])
    await release(holder)
    await w.drain()
    t.deepEqual(await w.follow(), [])
    for (const left of [leftovers, 'select from field_indexes', `select from field_uses`]) t.is((await w.db.query(left)).rowCount, 0, left)
  })
}

test('faults: a change of a type makes the building of its index give way, which is begun again some time later', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 500)
  const holder = await holdBuilds(w)
  const following = w.follow()
  await waitedFor(w.db, holder)
  const field = { entity_type: 'deals', key: 'late', label: 'Late', type: 'string' }
  t.is((await w.org.owner.post(`${w.org.path}/fields`, field)).status, 201)
  t.deepEqual(await following, [])
  await release(holder)
  t.is(await shownState(w), 'failed')
  t.deepEqual(await w.follow(), [], 'not at once, or changes and builds would be in each other’s way')
  w.clock.days = 2 / 1_440
  t.deepEqual(await w.follow(), ['build value count'])
  t.is(await shownState(w), 'ready')
  t.is((await w.db.query(leftovers)).rowCount, 0)
})

test('faults: a build that fails is tried again, each time after a longer while', async (t) => {
  const w = await usedWorld(t)
  await w.use('count', 'equality', 5_000)
  const blocked = `ws_${w.org.id.replaceAll('-', '')}.value_${w.idOf('count').replaceAll('-', '')}`
  await w.db.query(`create table ${blocked} ()`)
  const minute = 1 / 1_440
  const tries: number[] = []
  for (let minutes = 0; minutes < 20; minutes++) {
    w.clock.days = minutes * minute
    const before = (await w.db.query('select coalesce(sum(failures), 0)::integer as n from field_indexes')).rows[0].n
    await w.follow()
    if ((await w.db.query('select sum(failures)::integer as n from field_indexes')).rows[0].n > before) tries.push(minutes)
  }
  t.deepEqual(tries, [0, 1, 3, 7, 15])
  t.regex((await callKontor(w, 'indexes')).out, /deals\.count +value +failed .* already exists; again at /)
  await w.db.query(`drop table ${blocked}`)
  w.clock.days = 1
  t.deepEqual(await w.follow(), ['build value count'])
})
