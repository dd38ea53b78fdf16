import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** What the file that PostgreSQL keeps about itself says: the process, and how far it is ('starting', 'ready', 'stopping'). */
export function readStatus(folder: string): { pid: number; state: string } {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), state: lines[7]?.trim() ?? '' }
  } catch {
    return { pid: 0, state: '' }
  }
}

/**
 * Waits until no PostgreSQL uses this folder, and after 5 s ends it. One whose supervisor was killed is on its way down by
 * itself; one that was killed leaves sessions that notice a moment later. Needs /proc; elsewhere PostgreSQL's own check stands.
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

// From before a reboot or from another container, the file may name a process that lives but is no PostgreSQL of this folder.
// PostgreSQL would take it for one. A file that names a dead process it removes itself.
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
