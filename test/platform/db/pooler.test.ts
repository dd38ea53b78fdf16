import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '#scripts/ports.ts'
import { Database } from '#shared/platform/db/database.ts'
import { openDatabase } from '#shared/platform/db/open-database.ts'
import { eventually } from '#test/support/eventually.ts'
import { end } from '#test/support/process.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

// PgBouncer is no npm package: Debian's is /usr/sbin/pgbouncer.
const program = '/usr/sbin/pgbouncer'
const withPgBouncer = spawnSync(program, ['--version']).status === 0 ? test : test.skip

const slowOne = { text: 'select 1 as one from pg_sleep(5)' }
const readSettings = {
  text: `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('TimeZone') as zone`,
}

/** Parameters of a session's start that PgBouncer accepts without settings of its own. */
const accepted = ['user', 'database', 'client_encoding', 'application_name']

async function databaseUrlOf(t: ExecutionContext): Promise<string> {
  const { name, url } = await emptyDatabase(`pooler_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  return url
}

const options = { connections: 2, name: 'pooler', statementTimeoutMs: 10_000 }

test('pooler: a session starts without parameters that a pooler refuses', async (t) => {
  const target = new URL(await databaseUrlOf(t))
  const starts: string[][] = []
  const [targetPort, hostname] = [Number(target.port), target.hostname]
  const server = createServer((near) => {
    const far = connect(targetPort, hostname)
    near.once('data', (bytes) => starts.push(namesIn(bytes)))
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  target.port = String((server.address() as AddressInfo).port)
  const { close } = await openDatabase(target.href, options, false)
  await close()
  t.is(starts.length, 2, 'the cache and the pool')
  t.deepEqual([...new Set(starts.flat()).difference(new Set(accepted))], [])
})

/** Names of the parameters of a StartupMessage: length, version, and pairs of texts that end with a zero byte. */
const namesIn = (message: Buffer): string[] =>
  message
    .subarray(8)
    .toString()
    .split('\0')
    .filter((_, index) => index % 2 === 0)
    .filter(Boolean)

test('pooler: sessions have their settings', async (t) => {
  const database = new Database(await databaseUrlOf(t), { ...options, statementTimeoutMs: 4_000 })
  t.teardown(() => database.close())
  t.deepEqual(await database.query(readSettings), [{ statement: '4s', lock: '3s', idle: '8s', zone: 'UTC' }])
})

withPgBouncer('pooler: PgBouncer in session mode, also with a statement that takes long', async (t) => {
  const url = await startPgBouncer(t, await databaseUrlOf(t), 'session')
  const { database, close } = await openDatabase(url, options, false)
  t.teardown(close)
  t.deepEqual(await database.query(readSettings), [{ statement: '10s', lock: '3s', idle: '8s', zone: 'UTC' }])
  t.deepEqual(await database.query(slowOne), [{ one: 1 }])
})

withPgBouncer('pooler: PgBouncer in transaction mode is refused at the start', async (t) => {
  const url = await startPgBouncer(t, await databaseUrlOf(t), 'transaction')
  await t.throwsAsync(openDatabase(url, options, true), { message: /^DATABASE_URL leads through a pooler in transaction mode/ })
})

/** Starts PgBouncer before a database; returns the address through it. It ends with the test. */
async function startPgBouncer(t: ExecutionContext, databaseUrl: string, mode: 'session' | 'transaction'): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const home = await mkdtemp(join(tmpdir(), 'kontor-pooler-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const listenPort = await freePort()
  const settings = [
    '[databases]',
    `${name} = host=${hostname} port=${port} user=${username} password='${decodeURIComponent(password)}'`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${listenPort}`, 'unix_socket_dir =', 'auth_type = any', `pool_mode = ${mode}`],
  ]
  const file = join(home, 'pgbouncer.ini')
  await writeFile(file, settings.join('\n'), { mode: 0o644 })
  // It refuses to run as root, and becomes another user.
  const asUser = process.getuid?.() === 0 ? ['--user=nobody'] : []
  const child = spawn(program, ['--quiet', ...asUser, file], { stdio: 'ignore' })
  t.teardown(() => end(child))
  const through = `postgres://${username}@127.0.0.1:${listenPort}/${name}`
  await eventually(() => isListening(listenPort))
  return through
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', answer(true)).once('error', answer(false))
  })
