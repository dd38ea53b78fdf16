import test, { type ExecutionContext } from 'ava'
import { Cache } from '#shared/platform/db/cache/cache.ts'
import { Verification } from '#shared/platform/db/cache/verification.ts'
import { Database } from '#shared/platform/db/database.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { asArrays, type Statement } from '#shared/platform/db/statements/statement.ts'
import { prepared } from '#test/support/prepared.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const createNumbers = 'create temporary table numbers as select number, null as nothing from generate_series(1, 500) as number'
const list = prepared<{ number: number; nothing: null }>(
  'list',
  'select number, nothing from numbers where number > $1 order by number desc',
)
const explainList = { text: `explain (costs off) execute listv (0, '1', '{}')` }
const addChange = { text: `insert into cache_invalidations (scope) values ('changed')` }

/** A database of one connection with a table of its own, and a cache that knows its position. */
async function open(t: ExecutionContext): Promise<{ database: Database; cache: Cache }> {
  const { config } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'verification', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  const cache = new Cache(config.databaseUrl, 'verification')
  t.teardown(() => cache.close())
  await database.query({ text: createNumbers })
  await cache.refresh()
  return { database, cache }
}

test('verification: rows have their own columns only, in their order, whether anything changed or not', async (t) => {
  const { database, cache } = await open(t)
  const numbers = Array.from({ length: 500 }, (_, index) => 500 - index)
  for (const isChanged of [false, true, true]) {
    if (isChanged) await database.query(addChange)
    const { dropCount } = cache
    const objects = new Verification(cache)
    t.deepEqual(
      await objects.query(database, list(0)),
      numbers.map((number) => ({ number, nothing: null })),
    )
    t.true(objects.isDone)
    t.is(cache.dropCount, dropCount + Number(isChanged))
    const arrays = new Verification(cache)
    t.deepEqual(
      await arrays.query(database, asArrays(list(0))),
      numbers.map((number) => [number, null]),
    )
    t.true(arrays.isDone)
  }
})

test('verification: a list has its own sort only, and no join around it', async (t) => {
  const { database, cache } = await open(t)
  await new Verification(cache).query(database, list(0))
  const plan = (await database.query<{ 'QUERY PLAN': string }>(explainList)).map((row) => row['QUERY PLAN']).join('\n')
  t.notRegex(plan, /Join|Nested Loop/)
  t.is(plan.match(/Sort$/gm)?.length, 1, plan)
})

test('verification: a limited read has its own columns only', async (t) => {
  const { database, cache } = await open(t)
  const byteLimit: ByteLimit = { maxBytes: 500, bytes: 0, isWhole: true }
  const limited: Statement<unknown> = { ...list(0), byteLimit }
  const rows = await new Verification(cache).query(database, limited)
  t.false(byteLimit.isWhole)
  t.deepEqual(rows.slice(0, 2), [
    { number: 500, nothing: null },
    { number: 499, nothing: null },
  ])
})

test('verification: a statement that finds nothing leaves it to the next one, and a row of nulls is a row', async (t) => {
  const { database, cache } = await open(t)
  await database.query(addChange)
  const { dropCount } = cache
  const verification = new Verification(cache)
  t.deepEqual(await verification.query(database, list(500)), [])
  t.false(verification.isDone)
  const empty = prepared<{ number: null }>('empty', 'select max(number) as number from numbers where number > $1')
  t.deepEqual(await verification.query(database, empty(500)), [{ number: null }])
  t.true(verification.isDone)
  t.is(cache.dropCount, dropCount + 1)
})
