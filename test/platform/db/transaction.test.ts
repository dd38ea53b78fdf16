import test, { type ExecutionContext } from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { prepared } from '#test/support/prepared.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

/** A database of one connection with a table of unique numbers. */
async function numbers(t: ExecutionContext): Promise<Database> {
  const { config } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'transactions', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  await database.query(createNumbers)
  return database
}

const createNumbers = { text: 'create temporary table numbers (number integer unique deferrable initially deferred)' }
const readNumbers = { text: 'select number from numbers order by number' }
const plain = { text: 'select 1' }
const plainWithValue = { text: 'select $1::int' }
const wrongColumn = { text: 'select nothing' }
const failingInTransaction = 'begin; select 1 / 0; commit'
const never = prepared('never', 'select $1::json')
const insert = prepared('insert_number', 'insert into numbers (number) values ($1)')
const divide = prepared<{ result: number }>('divide_number', 'select 10 / $1::int as result')

const held = async (database: Database): Promise<number[]> =>
  (await database.query<{ number: number }>(readNumbers)).map(({ number }) => number)

/** The number of round trips of some work. */
async function roundTrips(database: Database, work: () => Promise<unknown>): Promise<number> {
  const client = await database.pool.connect()
  const { connection } = client as unknown as { connection: Record<'sync' | 'query', (...given: unknown[]) => void> }
  client.release()
  let count = 0
  for (const kind of ['sync', 'query'] as const) {
    const send = connection[kind].bind(connection)
    connection[kind] = (...given) => {
      count += 1
      send(...given)
    }
  }
  await work()
  return count
}

test('transaction: a transaction costs a round trip for each statement, and one for the commit unless its last statement commits', async (t) => {
  const database = await numbers(t)
  t.is(await roundTrips(database, () => database.transaction(async () => undefined)), 0)
  t.is(await roundTrips(database, () => database.transaction((tx) => tx.query(insert(1)))), 2)
  const two = async () => {
    const result = await database.transaction(
      async (tx) => tx.query<{ result: number }>(divide(2)),
      ([row]) => insert(row?.result),
    )
    t.deepEqual(result, [{ result: 5 }])
  }
  t.is(await roundTrips(database, two), 2)
  t.deepEqual(await held(database), [1, 5])
})

test('transaction: a failing last statement rolls back everything, and so does a refused commit', async (t) => {
  const database = await numbers(t)
  const committed: string[] = []
  const trying = (last: ReturnType<typeof insert>) =>
    database.transaction(
      async (tx) => {
        tx.afterCommit(() => committed.push(last.name ?? ''))
        await tx.query(insert(1))
      },
      () => last,
    )
  await t.throwsAsync(trying(divide(0)), { message: /division by zero/ })
  await t.throwsAsync(trying(insert(1)), { code: '23505' })
  t.deepEqual(await held(database), [])
  await trying(insert(2))
  t.deepEqual(await held(database), [1, 2])
  t.deepEqual(committed, ['insert_number'])
})

test('transaction: no statement of a transaction takes effect alone, whatever its first statement did', async (t) => {
  const database = await numbers(t)
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const firsts = [
    // Never sent.
    never(circle),
    // Sent as plain text.
    plain,
    { ...plainWithValue, values: [1] },
    divide(5),
  ]
  for (const first of firsts) {
    await t.throwsAsync(
      database.transaction(async (tx) => {
        await tx.query(first).catch(() => undefined)
        await tx.query(insert(1))
        throw new Error('no')
      }),
      { message: 'no' },
    )
    t.deepEqual(await held(database), [])
  }
  // After a failure in the database no statement of the transaction takes effect.
  for (const wrong of [divide(0), wrongColumn])
    await t.throwsAsync(
      database.transaction(async (tx) => {
        await tx.query(wrong).catch(() => undefined)
        await tx.query(insert(1))
      }),
      { code: '25P02' },
    )
  t.deepEqual(await held(database), [])
})

test('transaction: a nested transaction ends nothing', async (t) => {
  const database = await numbers(t)
  const outer = database.transaction(async (tx) => {
    await tx.transaction(
      async (inner) => inner.query(insert(1)),
      () => insert(2),
    )
    throw new Error('no')
  })
  await t.throwsAsync(outer, { message: 'no' })
  t.deepEqual(await held(database), [])
})

test('transaction: a failing text of several statements leaves no transaction open', async (t) => {
  const database = await numbers(t)
  await t.throwsAsync(database.executeSql(failingInTransaction), { message: /division by zero/ })
  await database.query(insert(1))
  t.deepEqual(await held(database), [1])
})
