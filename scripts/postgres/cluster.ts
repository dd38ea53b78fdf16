import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { changeOwner, type Identity } from './identity.ts'
import { type Profile, roleName } from './profile.ts'

const majorVersion = '18'

/**
 * Creates a database cluster in `folder` unless there is one. It is complete before it gets this name, so an interrupted start leaves no
 * half cluster. Throws if the existing cluster belongs to another major version of PostgreSQL.
 */
export async function ensureCluster(identity: Identity, folder: string, profile: Profile): Promise<void> {
  const version = join(folder, 'PG_VERSION')
  if (existsSync(version)) {
    const found = readFileSync(version, 'utf8').trim()
    if (found !== majorVersion)
      throw new Error(`${folder} was written by PostgreSQL ${found}; this is ${majorVersion}. Set DATA_DIR to another folder.`)
    return
  }
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  mkdirSync(unfinished, { mode: 0o700 })
  changeOwner(identity, unfinished)
  await initialise(identity, unfinished, profile)
  renameSync(unfinished, folder)
}

/** The folder as PostgreSQL gets it: the account of an identity may not be allowed to enter the folders above it. */
export function dataArgument(identity: Identity, folder: string): string {
  return identity.account && process.platform === 'linux' ? '/proc/self/cwd' : folder
}

/**
 * Sets the password of the only role that may sign in; call it before the server runs. Each start sets a new one, so none is stored. It has
 * 256 random bits and is hashed once: more rounds would only slow down every connection.
 */
export function setPassword(identity: Identity, folder: string, profile: Profile, password: string): Promise<void> {
  return execute(identity, folder, profile, [`alter role ${roleName} password '${password}'`])
}

// The superuser cannot sign in over the network; it is used only here, in single-user mode.
async function initialise(identity: Identity, folder: string, profile: Profile): Promise<void> {
  const data = dataArgument(identity, folder)
  const locale = ['--locale-provider=builtin', '--locale=C.UTF-8', '--encoding=UTF8']
  const settings = ['scram_iterations=1', 'timezone=UTC', 'log_timezone=UTC'].flatMap((setting) => ['-c', setting])
  await run(identity, folder, 'initdb', ['-D', data, '-U', 'postgres', '-A', 'reject', '--no-sync', ...locale, ...settings], '')
  await execute(identity, folder, profile, [
    `create role ${roleName} login createdb ${profile.isSuperuser ? 'superuser' : ''}`,
    `create database ${roleName} owner ${roleName}`,
  ])
  writeFileSync(join(folder, 'pg_hba.conf'), `host all ${roleName} 127.0.0.1/32 scram-sha-256\n`, { mode: 0o600 })
  if (profile.isSynced) await run(identity, folder, 'initdb', ['-D', data, '--sync-only'], '')
}

function execute(identity: Identity, folder: string, profile: Profile, statements: readonly string[]): Promise<void> {
  const settings = profile.settings.flatMap((setting) => ['-c', setting])
  const args = ['--single', '-D', dataArgument(identity, folder), ...settings, 'postgres']
  return run(identity, folder, 'postgres', args, `${statements.join('\n')}\n`)
}

/** The environment of PostgreSQL's programs. It leaves out ours, because they would read PGDATA, PGPORT and the like. */
export const environment = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }

function run(identity: Identity, cwd: string, program: string, args: readonly string[], input: string): Promise<void> {
  const [command = '', ...rest] = [...identity.prefix, join(identity.binaries, 'bin', program), ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { cwd, env: environment, stdio: 'pipe', ...identity.account })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.on('error', reject)
    child.on('close', (code) => {
      // A session in single-user mode exits with 0 even if statements failed.
      if (code === 0 && !/^.*(ERROR|FATAL):/m.test(output)) resolve()
      else reject(new Error(`PostgreSQL could not prepare ${cwd} (${program}):\n${output.trim()}`))
    })
  })
}
