import test from 'ava'
import { isDatabaseUnavailable, translateDatabaseError } from '#shared/platform/db/database-errors.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { startNetwork } from '#test/faults/network.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const outages = [
  { code: '53300', message: 'sorry, too many clients already' },
  { code: '57P01', message: 'terminating connection due to administrator command' },
  { code: '57P03', message: 'the database system is starting up' },
  { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED' },
  { code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND database' },
  { code: '25006', message: 'cannot execute INSERT in a read-only transaction' },
  { message: 'Connection terminated unexpectedly' },
  { message: 'timeout exceeded when trying to connect' },
  { code: '53100', message: 'could not extend file: No space left on device' },
]

test('unavailable: each way in which the database is away has one code', (t) => {
  for (const outage of outages) {
    const { code, headers } = translateDatabaseError(outage) as Problem
    t.deepEqual([code, headers['Retry-After']], ['UNAVAILABLE', '2'], outage.message)
  }
  t.true(isDatabaseUnavailable(translateDatabaseError(outages[1])))
  t.regex(
    (translateDatabaseError(outages[1], { mayBeWritten: true }) as Problem).message,
    /may have been stored: repeat the call with the same Idempotency-Key/,
  )
  const other = new Error('another error')
  t.is(translateDatabaseError(other), other)
})

test('unavailable: calls are 503 while the database is away, and work again afterwards', async (t) => {
  const w = await shared()
  const network = await startNetwork(t, w.config.databaseUrl)
  const visitor = await startSecondApi(t, { ...w, config: { ...w.config, databaseUrl: network.url } })
  const owner = visitor.as(w.org.owner.token).withoutRetries()
  const records = `${w.org.path}/records/locations`
  t.is((await owner.get(records)).status, 200)
  network.cut()
  for (const answer of [await owner.get(records), await owner.post(records, { values: { name: 'Away' } })]) {
    t.deepEqual([answer.status, answer.body.error.code, answer.headers.get('retry-after')], [503, 'UNAVAILABLE', '2'])
  }
  network.mend()
  t.is((await owner.post(records, { values: { name: 'Back' } })).status, 201)
})
