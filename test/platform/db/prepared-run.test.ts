import test, { type ExecutionContext } from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { isOutdatedTypeMetadata } from '#shared/platform/db/database-errors.ts'
import { maxPreparedLength } from '#shared/platform/db/statements/prepared-query.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { prepared } from '#test/support/prepared.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

/** A database of one connection, which therefore prepares every statement once. */
async function single(t: ExecutionContext): Promise<Database> {
  const { config } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'prepared', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  return database
}

/** The kinds of messages that the database received. */
async function messages(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const client = await database.pool.connect()
  const { connection } = client as unknown as {
    connection: Record<'describe' | 'parse' | 'close', (...given: unknown[]) => void>
  }
  client.release()
  const sent: string[] = []
  for (const kind of ['describe', 'parse', 'close'] as const) {
    const send = connection[kind].bind(connection)
    connection[kind] = (...given) => {
      sent.push(kind)
      send(...given)
    }
  }
  await work()
  return sent
}

const divideText = 'select 10 / $1::int as result'
const divide = prepared('divide', divideText)
/** Another text under the same name. */
const divideAgain = prepared('divide', 'select 1')
const none = prepared('none', 'set application_name = prepared')
const wrong = prepared('wrong', 'select nothing')
const right = prepared('wrong', 'select 1 as right')
const refused = prepared('refused', 'select 1 / 0')
const createChanging = 'create temporary table changing as select 1 as number'
const changeColumn = `alter table changing alter number type text using 'text'`
const all = prepared('all', 'select * from changing')
const countPrepared = { text: 'select count(*) from pg_prepared_statements' }
const selectIndex = (index: number, padding: string): string => `select ${index} as index${padding}`
const row = prepared(
  'row',
  `select $1::bigint as big, $2::numeric as exact, $3::jsonb as thing, $4::timestamptz as at, $5::text[] as list, $6::bytea as bytes`,
)
const values = [2 ** 40, '1.10', { a: [1, null] }, '2026-11-21T08:00:00.5Z', ['a', '"b"', null], Buffer.from([0, 255])]
const found = {
  big: 2 ** 40,
  exact: '1.10',
  thing: { a: [1, null] },
  at: '2026-11-21T08:00:00.500000Z',
  list: ['a', '"b"', null],
  bytes: Buffer.from([0, 255]),
}

test('prepared run: a prepared statement returns the same rows each time, and is parsed and described once', async (t) => {
  const database = await single(t)
  const sent = await messages(database, async () => {
    for (let round = 0; round < 3; round++) {
      t.deepEqual(await database.query(row(...values)), [found])
      t.deepEqual(await database.query(asArrays(row(...values))), [Object.values(found)])
      t.deepEqual(await database.query(row(null, null, null, null, null, null)), [
        { big: null, exact: null, thing: null, at: null, list: null, bytes: null },
      ])
    }
  })
  t.deepEqual(sent, ['parse', 'describe'])
})

test('prepared run: a statement without rows returns none, and is described once', async (t) => {
  const database = await single(t)
  const sent = await messages(database, async () => {
    for (let round = 0; round < 3; round++) t.deepEqual(await database.query(none()), [])
  })
  t.deepEqual(sent, ['parse', 'describe'])
})

test('prepared run: a statement runs again after any failure', async (t) => {
  const database = await single(t)
  const circle: Record<string, unknown> = {}
  circle.self = circle
  await t.throwsAsync(database.query(divide(circle)), { message: /circular/i })
  for (let round = 0; round < 2; round++) {
    await t.throwsAsync(database.query(divide(0)), { message: /division by zero/ })
    t.deepEqual(await database.query(divide(5)), [{ result: 2 }])
    await t.throwsAsync(database.query(divide('no number')), { message: /invalid input syntax/ })
  }
  await t.throwsAsync(database.query(wrong()), { message: /column "nothing" does not exist/ })
  t.deepEqual(await database.query(right()), [{ right: 1 }], 'a text that could not be parsed is not kept')
  await t.throwsAsync(database.query(divideAgain()), { message: /divide is prepared with another text/ })
  t.deepEqual(await database.query(divide(2)), [{ result: 5 }])
})

test('prepared run: the stack of an error names the caller of the statement', async (t) => {
  const database = await single(t)
  const error = await t.throwsAsync(database.query(refused()))
  t.regex(String(error?.stack), /run-statement\.ts/)
})

test('prepared run: rows of changed columns are refused and never read with the old columns', async (t) => {
  const database = await single(t)
  const run = (text: string) => database.query({ text })
  await run(createChanging)
  t.deepEqual(await database.query(all()), [{ number: 1 }])
  await run(changeColumn)
  const error = await t.throwsAsync(database.query(all()))
  t.true(isOutdatedTypeMetadata(error))
})

test('prepared run: statements in a transaction are prepared too', async (t) => {
  const database = await single(t)
  const sent = await messages(database, () =>
    database.transaction(async (tx) => {
      for (const by of [1, 2, 5]) t.deepEqual(await tx.query(divide(by)), [{ result: 10 / by }])
    }),
  )
  t.deepEqual(sent, ['parse', 'parse', 'describe'], 'begin is sent with the first statement')
})

test('prepared run: a statement without a name is parsed each time, and returns the same rows', async (t) => {
  const database = await single(t)
  const { text } = row()
  const sent = await messages(database, async () => {
    for (let round = 0; round < 2; round++) {
      t.deepEqual(await database.query({ text, values }), [found])
      t.deepEqual(await database.query(asArrays({ text, values })), [Object.values(found)])
    }
    await t.throwsAsync(database.query({ text: divideText, values: [0] }), { message: /division by zero/ })
    t.deepEqual(await database.query({ text: divideText, values: [5] }), [{ result: 2 }])
  })
  t.deepEqual(sent, Array.from({ length: 6 }, () => ['parse', 'describe']).flat())
})

test('prepared run: a connection bounds the text of its prepared statements: a new one replaces the least recently used', async (t) => {
  const database = await single(t)
  const most = 10
  const padding = ' '.repeat(Math.floor(maxPreparedLength / most) - 30)
  const nth = (index: number) => prepared(`nth ${index}`, selectIndex(index, padding))()
  const kept = async () => (await database.query<{ count: number }>(countPrepared))[0]?.count
  for (let index = 0; index < most; index++) await database.query(nth(index))
  await database.query(nth(0))
  t.is(await kept(), most)
  const sent = await messages(database, async () => {
    t.deepEqual(await database.query(nth(most)), [{ index: most }])
    t.deepEqual(await database.query(nth(0)), [{ index: 0 }])
    t.deepEqual(await database.query(nth(1)), [{ index: 1 }], 'the replaced statement is prepared again')
  })
  t.deepEqual(sent, ['close', 'parse', 'describe', 'close', 'parse', 'describe'])
  t.is(await kept(), most)
})
