import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endWithParent } from '../end-with-parent.mjs'
import { dataArgument, environment } from './cluster.ts'
import type { Identity } from './identity.ts'
import type { Profile } from './profile.ts'
import { readStatus } from './stale-files.ts'

/** A running PostgreSQL. `ended` resolves with the last lines of its log when the server has ended for any reason. */
export type Server = { readonly pid: number; readonly ended: Promise<string>; readonly signal: (name: NodeJS.Signals) => void }

const signals: Readonly<Record<Profile['shutdown'], readonly { name: NodeJS.Signals; waitMs: number }[]>> = {
  fast: [
    { name: 'SIGINT', waitMs: 10_000 },
    { name: 'SIGQUIT', waitMs: 5_000 },
    { name: 'SIGKILL', waitMs: 5_000 },
  ],
  immediate: [
    { name: 'SIGQUIT', waitMs: 5_000 },
    { name: 'SIGKILL', waitMs: 5_000 },
  ],
}

const startTimeoutMs = 60_000

/**
 * Starts PostgreSQL on a folder that no other server uses and waits until it accepts sessions on 127.0.0.1, including crash recovery.
 * Throws with its log if it does not start.
 */
export async function startServer(identity: Identity, folder: string, port: number, profile: Profile): Promise<Server> {
  const server = launch(identity, folder, port, profile)
  let log: string | null = null
  void server.ended.then((text) => {
    log = text
  })
  for (const end = Date.now() + startTimeoutMs; !isReady(folder, server.pid); await delay(15)) {
    if (log !== null) throw new Error(`PostgreSQL did not start in ${folder}:\n${log}`)
    if (Date.now() < end) continue
    await stopServer(server, 'immediate')
    throw new Error(`PostgreSQL did not start in ${folder} within ${startTimeoutMs / 1000} s:\n${log ?? ''}`)
  }
  return server
}

/** Stops the server by stronger and stronger signals; resolves when it has ended. */
export async function stopServer(server: Server, shutdown: Profile['shutdown']): Promise<void> {
  for (const { name, waitMs } of signals[shutdown]) {
    server.signal(name)
    const isGone = await Promise.race([server.ended.then(() => true), delay(waitMs, false, { ref: false })])
    if (isGone) return
  }
}

function isReady(folder: string, pid: number): boolean {
  const status = readStatus(folder)
  return status.pid === pid && status.state === 'ready'
}

function launch(identity: Identity, folder: string, port: number, { settings, shutdown }: Profile): Server {
  const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`, 'log_min_messages=fatal', ...settings]
  const [command = '', ...args] = [
    ...identity.prefix,
    ...endWithParent(shutdown === 'fast' ? 'INT' : 'QUIT'),
    join(identity.binaries, 'bin', 'postgres'),
    '-D',
    dataArgument(identity, folder),
    ...all.flatMap((setting) => ['-c', setting]),
  ]
  const child = spawn(command, args, {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...identity.account,
  })
  return { pid: child.pid ?? 0, ended: logUntilEnd(child), signal: (name) => child.kill(name) }
}

function logUntilEnd(child: ChildProcess): Promise<string> {
  let log = ''
  child.stderr?.on('data', (chunk) => (log = (log + chunk).slice(-4_000)))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', () => resolve(log.trim()))
  })
}
