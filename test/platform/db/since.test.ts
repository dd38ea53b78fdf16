import test from 'ava'
import { Cache } from '#shared/platform/db/cache/cache.ts'
import { Verification } from '#shared/platform/db/cache/verification.ts'
import { Database } from '#shared/platform/db/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { prepared } from '#test/support/prepared.ts'
import { world } from '#test/support/world.ts'

const addChanges = 'insert into cache_invalidations (scope) select gen_random_uuid()::text from generate_series(1, 20000)'
const analyzeChanges = 'analyze cache_invalidations'
const readPlans = { text: `select custom_plans, generic_plans from pg_prepared_statements where name like 'one%'` }
const one = prepared<{ one: number }>('one', 'select $1::int as one')

test('since: a verified statement keeps its plan, however many changes are stored', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const database = new Database(w.config.databaseUrl, { connections: 1, name: 'since', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  const cache = new Cache(w.config.databaseUrl, 'since')
  t.teardown(() => cache.close())
  /** Waits until all writes are before the cache position, which waits for the oldest transaction of the whole server. */
  const settle = () =>
    eventually(async () => {
      await cache.refresh()
      return cache.position()?.seen.length === 0
    })
  const runTimes = async (times: number) => {
    await settle()
    for (let run = 0; run < times; run++) {
      const [row] = await new Verification(cache).query<{ one: number }>(database, one(run))
      t.is(row?.one, run)
    }
  }
  await runTimes(8)
  await w.db.query(addChanges)
  await w.db.query(analyzeChanges)
  await runTimes(8)
  t.deepEqual(await database.query(readPlans), [{ custom_plans: 5, generic_plans: 11 }], 'the first five plans are for their values')
})
