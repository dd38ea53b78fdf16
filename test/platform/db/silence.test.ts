import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { Database } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import { type Network, startNetwork } from '#test/faults/network.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

const one = { text: 'select 1' }
const two = { text: 'select 2' }
const three = { text: 'select 3 as three' }
// Longer than the time without an answer after which a connection counts as lost.
const slowOne = { text: 'select 1 as one from pg_sleep(8)' }
// The answer takes more than ten seconds in pieces of 64 KB.
const longText = { text: `select repeat('x', 1000000) as text` }

/** A database behind a network of the test. */
async function behindNetwork(t: ExecutionContext): Promise<{ readonly db: Database; readonly network: Network }> {
  const { name, url } = await emptyDatabase(`silence_${randomUUID().slice(0, 8)}`)
  const network = await startNetwork(t, url)
  const db = new Database(network.url, { connections: 2, name: 'test', statementTimeoutMs: 600_000 })
  t.teardown(() => dropDatabase(name))
  t.teardown(() => db.close())
  return { db, network }
}

test('silence: a statement whose response is lost fails before its own timeout, and the pool continues', async (t) => {
  const { db, network } = await behindNetwork(t)
  await db.query(one)
  network.stall()
  const lost = t.throwsAsync(db.query(two))
  network.forget()
  t.true(isDatabaseUnavailable(await lost))
  t.deepEqual(await db.query(three), [{ three: 3 }])
})

test('silence: a transaction fails while the network is silent', async (t) => {
  const { db, network } = await behindNetwork(t)
  const lost = db.transaction(async (tx) => {
    await tx.query(one)
    network.stall()
    await tx.query(two)
  })
  t.true(isDatabaseUnavailable(await t.throwsAsync(lost)))
  network.mend()
  t.deepEqual(await db.query(three), [{ three: 3 }])
})

test('silence: an answer that arrives slowly, long after the database has sent it, is read whole', async (t) => {
  const { db, network } = await behindNetwork(t)
  await db.query(one)
  network.trickle(65_536, 600)
  const [row] = await db.query<{ readonly text: string }>(longText)
  t.is(row?.text.length, 1_000_000)
})

test('silence: a statement on which the database works may take its time', async (t) => {
  const { db } = await behindNetwork(t)
  t.deepEqual(await db.query(slowOne), [{ one: 1 }])
})
