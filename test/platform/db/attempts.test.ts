import test, { type ExecutionContext } from 'ava'
import { inAttempts } from '#shared/platform/db/attempts.ts'
import { Cache } from '#shared/platform/db/cache/cache.ts'
import { Database, type Executor } from '#shared/platform/db/database.ts'
import { prepared } from '#test/support/prepared.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const createNumbers = { text: 'create temporary table numbers (number integer)' }
const readNumbers = { text: 'select number from numbers' }

/** A database of one connection with a table of numbers, and a cache. */
async function open(t: ExecutionContext) {
  const { config } = await start()
  const database = new Database(config.databaseUrl, { connections: 1, name: 'attempts', statementTimeoutMs: 60_000 })
  const cache = new Cache(config.databaseUrl, 'attempts')
  t.teardown(() => Promise.all([database.close(), cache.close()]))
  await database.query(createNumbers)
  const held = async () => (await database.query<{ number: number }>(readNumbers)).map(({ number }) => number)
  return { database, cache, held }
}

const insert = prepared('insert_number', 'insert into numbers (number) values ($1)')
const lock = prepared('lock_numbers', 'select number from numbers for update')
const fail = (code: string) => ({ text: `do $$ begin raise exception 'no' using errcode = '${code}'; end $$` })
const outdated = { text: 'select nothing_of_this_name from numbers' }

/** Work that fails by this statement in its first two attempts. */
function failingTwice(failure: { readonly text: string }, before: (db: Executor) => Promise<unknown>) {
  let attempts = 0
  const work = async ({ db }: { readonly db: Executor }) => {
    attempts += 1
    await before(db)
    if (attempts < 3) await db.query(failure)
    return attempts
  }
  return { work, attempts: () => attempts }
}

for (const [name, failure] of Object.entries({
  'a deadlock': fail('40P01'),
  'a serialization failure': fail('40001'),
  'a lost column': outdated,
})) {
  test(`attempts: work that has committed nothing is repeated after ${name}`, async (t) => {
    const { database, cache, held } = await open(t)
    const { work } = failingTwice(failure, (db) => db.query(lock()))
    t.is(await inAttempts(cache, database, work), 3)
    const inTransaction = failingTwice(failure, async () => undefined)
    const write = ({ db }: { readonly db: Executor }) =>
      db.transaction(async (tx) => {
        await tx.query(insert(1))
        return inTransaction.work({ db: tx })
      })
    t.is(await inAttempts(cache, database, write), 3)
    t.deepEqual(await held(), [1], 'the failed attempts were rolled back')
  })
}

test('attempts: a column that is missing in all five attempts is OVERLOADED', async (t) => {
  const { database, cache } = await open(t)
  let attempts = 0
  const work = async ({ db }: { readonly db: Executor }) => {
    attempts += 1
    return db.query(outdated)
  }
  await t.throwsAsync(inAttempts(cache, database, work), { code: 'OVERLOADED', message: /record type changed/ })
  t.is(attempts, 5)
})

test('attempts: work that has committed a write is not repeated', async (t) => {
  const { database, cache, held } = await open(t)
  const alone = failingTwice(fail('40P01'), (db) => db.query(insert(1)))
  await t.throwsAsync(inAttempts(cache, database, alone.work), { code: 'OVERLOADED' })
  const last = failingTwice(outdated, (db) =>
    db.transaction(
      async (tx) => tx.query(lock()),
      () => insert(2),
    ),
  )
  await t.throwsAsync(inAttempts(cache, database, last.work), { code: 'OVERLOADED' })
  t.deepEqual([alone.attempts(), last.attempts()], [1, 1])
  t.deepEqual(await held(), [1, 2])
})

test('attempts: work is repeated after a write that is repeatable or recorded in a checkpoint', async (t) => {
  const { database, cache, held } = await open(t)
  const repeatable = failingTwice(outdated, (db) => db.query({ ...insert(1), repeatable: true }))
  t.is(await inAttempts(cache, database, repeatable.work), 3)
  let steps = 0
  const inSteps = inAttempts(cache, database, async ({ db, noteProgress }) => {
    for (; steps < 12; ) {
      await db.transaction(async (tx) => {
        await tx.query(insert(2))
        tx.afterCommit(() => {
          steps += 1
          noteProgress()
        })
      })
      await db.query(fail('40P01'))
    }
  })
  await inSteps
  t.deepEqual(await held(), [1, 1, 1, ...Array.from({ length: 12 }, () => 2)])
})

test('attempts: work fails after the fifth attempt, or after the first for other errors; work around it does not repeat it', async (t) => {
  const { database, cache } = await open(t)
  for (const [code, expected] of [
    ['40P01', 5],
    ['22012', 1],
  ] as const) {
    let attempts = 0
    const inner = () =>
      inAttempts(cache, database, async ({ db }) => {
        attempts += 1
        await db.query(fail(code))
      })
    await t.throwsAsync(inAttempts(cache, database, inner))
    t.is(attempts, expected)
  }
})
