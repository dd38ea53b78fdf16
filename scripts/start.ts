import { existsSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { makeFolderPrivate } from '#shared/platform/kernel/process/private-files.ts'
import { choosePort, freePort } from './ports.ts'
import { startEmbedded } from './postgres/embedded.ts'
import { durableProfile } from './postgres/profile.ts'
import { announcement, waitUntilReady } from './start/announce.ts'
import { readBootstrap } from './start/bootstrap.ts'
import { runChild } from './start/child.ts'
import { lockDataFolder } from './start/data-folder-lock.ts'
import { createPrefixes } from './start/output.ts'
import { writePrivate } from './start/private-file.ts'
import { readProcfile } from './start/procfile.ts'
import { ensureSecretKey } from './start/secret-key.ts'
import { supervise } from './start/supervised-process.ts'
import { stopRequest, unlessStopped, waitForStop } from './stop-request.ts'

// `npm start`: a database unless DATABASE_URL names one, migrations, the processes of the Procfile, and an orderly stop.

/** What a process needs after STOP_WITHIN_SECONDS to give its work back and close its connections; then it is killed. */
const closingMs = 10_000

const stop = stopRequest()
const isEmbedded = !process.env.DATABASE_URL
const root = resolve(import.meta.dirname, '..')
const types = readProcfile(join(root, isEmbedded && existsSync(join(root, 'Procfile.dev')) ? 'Procfile.dev' : 'Procfile'))
const prefixes = createPrefixes(['kontor', 'postgres', ...types.map(({ name }) => name)])
const say = prefixes('kontor')

try {
  await start()
} catch (error) {
  if (!stop.aborted) {
    say(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
process.exit()

// Deferred steps run in reverse order: the API stops first, then the workers, then the database.
async function start(): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const { host, stopWithinSeconds } = refuseBadEnvironment()
  const graceMs = stopWithinSeconds * 1_000 + closingMs
  const dataDir = resolve(process.env.DATA_DIR || '.data')
  await makeFolderPrivate(dataDir)
  if (isEmbedded) cleanup.defer(await lockDataFolder(dataDir, stop))
  const port = await choosePort(process.env.PORT, say)
  const environment = {
    DATABASE_URL: process.env.DATABASE_URL || (await startDatabase(dataDir, cleanup)),
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_URL: (process.env.PUBLIC_URL || `http://localhost:${port}`).replace(/\/+$/, ''),
    SECRET_KEY: process.env.SECRET_KEY || ensureSecretKey(dataDir),
  }
  // A process of its own: the memory of a migration, some 70 MB, would stay in this one.
  await runCommand('migrate', environment, 'The database could not be migrated')

  const bootstrapFile = join(dataDir, 'bootstrap.json')
  const isFirst = !existsSync(bootstrapFile)
  const workerTypes = types.filter(({ name }) => name !== 'api')
  const ports = await Promise.all(workerTypes.map(() => freePort()))
  const workers = workerTypes.map((type, index) =>
    supervise(type, { ...environment, WORKER_PORT: String(ports[index]) }, prefixes(type.name)),
  )
  cleanup.defer(() => Promise.all(workers.map((worker) => worker.stop(graceMs))).then(() => {}))
  if (isEmbedded) await runCommand('bootstrap', environment, 'The first workspace could not be made')
  const account = isEmbedded ? readBootstrap(dataDir, environment.PUBLIC_URL) : null

  const apiType = types.find(({ name }) => name === 'api')
  if (!apiType) throw new Error('The Procfile has no line for the process "api".')
  const api = supervise(apiType, environment, prefixes('api'))
  cleanup.defer(() => api.stop(graceMs))
  await unlessStopped(stop, waitUntilReady(port, host, api))
  for (const line of announcement(environment.PUBLIC_URL, account, isFirst, relative(process.cwd(), bootstrapFile))) say(line)
  await waitForStop(stop)
  say('Stopping')
}

// Every process reads the environment itself. An invalid one is reported once here, before anything is created or changed.
function refuseBadEnvironment(): Config {
  const { DATABASE_URL = '', SECRET_KEY = '' } = process.env
  return readConfig({ ...process.env, DATABASE_URL: DATABASE_URL || 'postgres://embedded', SECRET_KEY: SECRET_KEY || '0'.repeat(64) })
}

async function startDatabase(dataDir: string, cleanup: AsyncDisposableStack): Promise<string> {
  const postgres = await startEmbedded(join(dataDir, 'pg'), durableProfile, prefixes('postgres'))
  cleanup.defer(postgres.stop)
  // The command line finds the database of a running start by this file.
  const addressFile = join(dataDir, 'database-url')
  writePrivate(addressFile, `${postgres.url}\n`)
  cleanup.defer(() => rmSync(addressFile, { force: true }))
  stop.throwIfAborted()
  return postgres.url
}

async function runCommand(name: string, environment: NodeJS.ProcessEnv, failure: string): Promise<void> {
  const lines: string[] = []
  const child = runChild(`bin/kontor ${name}`, environment, (line) => lines.push(line))
  const reason = await unlessStopped(stop, child.ended)
  if (reason) throw new Error(`${failure} (${reason}):\n${lines.join('\n')}`)
  for (const line of lines.filter((line) => line.startsWith('Warning: '))) say(line)
}
