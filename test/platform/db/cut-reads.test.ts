import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { endSessionRunning } from '#test/platform/db/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { openPool } from '#test/support/pool.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

/** Statements that take long enough for their session to be ended meanwhile. */
const read = { text: 'select pg_sleep(2), pg_backend_pid() as pid /* cut read */' }
const write = { text: 'create temporary table cut_write as select 1 as one from pg_sleep(5)' }

/** A database, and other connections to it. */
async function openDatabase(t: ExecutionContext) {
  const { name, url } = await emptyDatabase(`cut_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  const db = openPool({ connectionString: url, max: 1 })
  t.teardown(() => db.end())
  const database = new Database(url, { connections: 2, name: 'cut', statementTimeoutMs: 60_000 })
  t.teardown(() => database.close())
  return { db, database }
}

test('cut reads: a read whose connection is cut is run again once, on another connection', async (t) => {
  const { db, database } = await openDatabase(t)
  const reading = database.query<{ readonly pid: number }>(read)
  await eventually(() => endSessionRunning(db, 'cut read'))
  t.is((await reading).length, 1)
})

test('cut reads: a read is not run a third time', async (t) => {
  const { db, database } = await openDatabase(t)
  const reading = t.throwsAsync<Problem>(database.query(read))
  await eventually(() => endSessionRunning(db, 'cut read'))
  await eventually(() => endSessionRunning(db, 'cut read'))
  t.is((await reading)?.code, 'UNAVAILABLE')
})

test('cut reads: a write is not run again, since it may have been stored', async (t) => {
  const { db, database } = await openDatabase(t)
  const writing = t.throwsAsync<Problem>(database.query(write))
  await eventually(() => endSessionRunning(db, 'cut_write'))
  const problem = await writing
  t.is(problem?.code, 'UNAVAILABLE')
  t.regex(problem?.message ?? '', /may have been stored/)
})
