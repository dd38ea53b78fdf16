import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startEmbedded } from '#scripts/postgres/embedded.ts'
import { durableProfile } from '#scripts/postgres/profile.ts'
import { checkReadiness } from '#shared/platform/db/health.ts'
import { openDatabase } from '#shared/platform/db/open-database.ts'
import { type Network, startNetwork } from '#test/faults/network.ts'
import { partsWithLog } from '#test/platform/kernel/logged-parts.ts'
import { eventually } from '#test/support/eventually.ts'
import { takeConnections } from '#test/support/take-connections.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

const one = { text: 'select 1 as one' }

/** Opens a database as a process does, with its parts and the lines that they log. */
function opening(t: ExecutionContext, url: string, waits: boolean) {
  const { parts, lines } = partsWithLog()
  for (const part of Object.values(parts)) t.teardown(() => part.close())
  const opened = openDatabase(url, { connections: 3, name: 'kontor test', statementTimeoutMs: 10_000, part: parts.database }, waits)
  t.teardown(() =>
    opened.then(
      ({ close }) => close(),
      () => undefined,
    ),
  )
  return { opened, parts, lines }
}

async function behindNetwork(t: ExecutionContext): Promise<Network> {
  const { name, url } = await emptyDatabase(`open_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  return startNetwork(t, url)
}

test('open database: a process that starts while the database is away waits for it, and logs two lines', async (t) => {
  const network = await behindNetwork(t)
  network.cut()
  const { opened, parts, lines } = opening(t, network.url, true)
  await eventually(() => !parts.database.isUp)
  network.mend()
  const { database } = await opened
  t.deepEqual(await database.query(one), [{ one: 1 }])
  await eventually(() => parts.database.isUp)
  t.deepEqual(
    lines.map(({ message }) => message),
    ['the database is away', 'the database is back'],
  )
})

test('open database: a command does not wait', async (t) => {
  const network = await behindNetwork(t)
  network.cut()
  await t.throwsAsync(opening(t, network.url, false).opened, { message: /^The database is out of reach: / })
})

test('open database: without a connection left, work is UNAVAILABLE and /readyz says so', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-connections-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const profile = { ...durableProfile, isSynced: false, settings: ['max_connections=20'] }
  const postgres = await startEmbedded(join(folder, 'data'), profile, () => undefined)
  t.teardown(postgres.stop)
  const { opened, parts } = opening(t, postgres.url, true)
  const { database, cache } = await opened
  t.true(cache.isOpen)
  const taken = await takeConnections(t, postgres.url)
  await taken.takeThoseOfKontor()
  for (const work of [database.query(one), cache.refresh()])
    await t.throwsAsync(work, { code: 'UNAVAILABLE', message: /no connection left/ })
  const [status, { reason, parts: states }] = await checkReadiness({ database, cache, parts, checkStore: async () => undefined })
  t.is(status, 503)
  t.regex(reason ?? '', /^The database is out of reach: .*(?:too many clients|reserved)/)
  t.is(states.database, reason)
  t.false(parts.database.isUp)
  await taken.free()
  await eventually(() => parts.database.isUp)
  t.deepEqual(await database.query(one), [{ one: 1 }])
})
