import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Reads postmaster.pid: the process and its state ('starting', 'ready', 'stopping'). */
export function readStatus(folder: string): { pid: number; state: string } {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), state: lines[7]?.trim() ?? '' }
  } catch {
    return { pid: 0, state: '' }
  }
}

/**
 * Waits until no PostgreSQL uses this folder; ends it after 5 s. A server whose supervisor was killed stops by itself; sessions of a killed
 * server end a moment later. Needs /proc; elsewhere PostgreSQL's own check applies.
 */
export async function clearFolder(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  for (const signal of [null, 'SIGQUIT', 'SIGKILL'] as const) {
    for (const end = Date.now() + 5_000; Date.now() < end; await delay(50)) {
      const pids = serversOn(folder)
      if (pids.length === 0) return removeForeignFile(folder)
      if (signal) for (const pid of pids) send(pid, signal)
    }
  }
  throw new Error(`PostgreSQL (processes ${serversOn(folder).join(', ')}) is using ${folder} and cannot be ended.`)
}

// After a reboot, or from another container, the file may name a living process that is not this folder's PostgreSQL, and PostgreSQL would
// refuse to start. A file that names a dead process is removed by PostgreSQL.
function removeForeignFile(folder: string): void {
  const { pid } = readStatus(folder)
  if (pid > 0 && send(pid, 0)) rmSync(join(folder, 'postmaster.pid'), { force: true })
}

function serversOn(folder: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) =>
        pid > 0 &&
        link(pid, 'cwd') === folder &&
        link(pid, 'exe')
          .replace(/ \(deleted\)$/, '')
          .endsWith('/postgres'),
    )
}

function link(pid: number, name: 'cwd' | 'exe'): string {
  try {
    return readlinkSync(`/proc/${pid}/${name}`)
  } catch {
    return ''
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
