import test from 'ava'
import { startNetwork } from '#test/faults/network.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { type LogLine, startLogged } from '#test/support/logged-process.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const messages = (lines: readonly LogLine[]) => lines.map(({ msg }) => msg)

const metricOf = async (root: string, name: string): Promise<string | undefined> =>
  (await (await fetch(`${root}/metrics`)).text()).split('\n').find((line) => line.startsWith(`${name} `))

test('outage: an API answers 503 while the database is away, and logs two lines with the number of refused calls', async (t) => {
  const w = await shared()
  const network = await startNetwork(t, w.config.databaseUrl)
  const api = await startLogged(t, { config: { ...w.config, databaseUrl: network.url } }, 'api')
  const root = await api.root()
  const owner = new Client(root, w.org.owner.token).withoutRetries()
  const records = `${w.org.path}/records/locations`
  t.is((await owner.get(records)).status, 200)
  network.cut()
  const calls = Array.from({ length: 10 }, (_, number) => [
    owner.get(records),
    owner.post(records, { values: { name: `no ${number}` } }),
  ]).flat()
  const answers = await Promise.all(calls)
  for (const answer of answers) {
    t.deepEqual([answer.status, answer.body.error.code, answer.headers.get('retry-after')], [503, 'UNAVAILABLE', '2'])
  }
  const { status, body } = await new Client(root, null).withoutRetries().get('/readyz')
  // An API sends no mail, so it knows nothing of the mail server.
  t.deepEqual([status, body.status, Object.keys(body.parts)], [503, 'not ready', ['database', 'file store']])
  t.regex(body.parts.database, /^The database is out of reach: /)
  t.is(await metricOf(root, 'kontor_database_up'), 'kontor_database_up 0')
  network.mend()
  const back = await api.line('the database is back')
  t.is(back.refused, answers.length)
  await eventually(async () => (await metricOf(root, 'kontor_database_up')) === 'kontor_database_up 1')
  t.is((await owner.post(records, { values: { name: 'Back' } })).status, 201)
  t.is((await new Client(root, null).get('/readyz')).body.parts.database, 'up')
  t.deepEqual(messages(api.lines()), ['api ready', 'the database is away', 'the database is back'])
})

test('outage: the connections of the cache and of signals are open from the start, and count in the metric', async (t) => {
  const w = await shared()
  const text = await (await fetch(`http://127.0.0.1:${w.api.port}/metrics`)).text()
  for (const state of ['cache', 'signals']) t.regex(text, new RegExp(`^kontor_database_connections\\{state="${state}"\\} [1-9]`, 'm'))
})

test('outage: workers go on after an outage, and log two lines', async (t) => {
  const w = await shared()
  const network = await startNetwork(t, w.config.databaseUrl)
  const config = { ...w.config, databaseUrl: network.url }
  const workers = await Promise.all(['functions', 'flows', 'schedule'].map((pool) => startLogged(t, { config }, pool)))
  await Promise.all(workers.map(({ line }) => line('worker ready')))
  network.cut()
  await Promise.all(workers.map(({ line }) => line('the database is away')))
  network.mend()
  for (const { line, lines } of workers) {
    await line('the database is back')
    const told = messages(lines()).filter((message) => message !== 'functions run under every confinement')
    t.deepEqual(told, ['worker ready', 'the database is away', 'the database is back'])
  }
})

test('outage: a process that cannot start logs the reason as JSON', async (t) => {
  const w = await shared()
  const address = new URL(w.config.databaseUrl)
  address.pathname = '/no_such_database'
  const api = await startLogged(t, { config: { ...w.config, databaseUrl: address.href } }, 'api')
  const { level, err } = await api.line('could not start')
  t.is(level, 60)
  t.regex((err as { message: string }).message, /^The database is out of reach: database "no_such_database" does not exist/)
  await eventually(() => api.child.exitCode !== null)
  t.is(api.child.exitCode, 1)
})
