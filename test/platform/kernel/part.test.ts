import test from 'ava'
import { Registry } from 'prom-client'
import { problem } from '#shared/platform/kernel/errors.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { registerPartGauges } from '#shared/platform/kernel/process/part-metrics.ts'
import { partsWithLog } from '#test/platform/kernel/logged-parts.ts'
import { eventually } from '#test/support/eventually.ts'

test('part: an outage is one line when it begins and one with its counts when it ends', (t) => {
  const { parts, lines } = partsWithLog()
  const { database, fileStore } = parts
  const refused = problem('UNAVAILABLE', undefined, { part: database })
  database.failed(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))
  database.failed(new Error('Connection terminated'))
  t.true([refused, refused, refused].every(countRefusal))
  t.deepEqual([database.isUp, database.reason, fileStore.isUp], [false, 'ECONNREFUSED', true])
  database.succeeded()
  database.succeeded()
  t.true(database.isUp)
  const [away, back, ...others] = lines
  t.deepEqual(away, { level: 'error', message: 'the database is away', part: 'database', reason: 'ECONNREFUSED' })
  t.like(back, { level: 'warn', message: 'the database is back', reason: 'ECONNREFUSED', failures: 2, refused: 3 })
  t.deepEqual(others, [])
})

test('part: a failure that no outage caused is left to be logged', (t) => {
  const { parts } = partsWithLog()
  const full = problem('UNAVAILABLE', 'no room left', { part: parts.fileStore })
  t.deepEqual([new Error('a fault'), problem('UNAVAILABLE'), problem('NOT_FOUND'), full].filter(countRefusal), [])
})

test('part: probes end an outage without any other work', async (t) => {
  const { parts, lines } = partsWithLog()
  t.teardown(() => parts.fileStore.close())
  let probes = 0
  parts.fileStore.probeWith(async () => {
    probes += 1
    if (probes < 2) throw new Error('still away')
  })
  parts.fileStore.failed(new Error('connect ECONNREFUSED'))
  await eventually(() => parts.fileStore.isUp)
  t.deepEqual([probes, lines.length], [2, 2])
})

test('part: a gauge is 0 while the part is away, and absent while the process does not use the part', async (t) => {
  const registry = new Registry()
  const { parts } = partsWithLog()
  parts.database.probeWith(async () => undefined)
  const unwatch = registerPartGauges(registry)(parts, async () => parts.fileStore.failed(new Error('found away')))
  t.teardown(() => Object.values(parts).map((part) => part.close()))
  const values = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('kontor_'))
  t.deepEqual(await values(), ['kontor_database_up 1', 'kontor_file_store_up 0'])
  parts.mailServer.failed(new Error('away'))
  t.deepEqual(await values(), ['kontor_database_up 1', 'kontor_file_store_up 0', 'kontor_mail_server_up 0'])
  unwatch()
  t.deepEqual(await values(), [])
})
