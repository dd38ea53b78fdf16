import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from '#test/support/eventually.ts'
import { confinement } from '#workers/features/functions/sandbox/runner/confinement.ts'

/** The living children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return Number(readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]) === pid
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Resolves when the process is gone. */
export async function goneProcess(pid: number): Promise<void> {
  await eventually(() => !isAlive(pid))
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Resident memory of a process in bytes; 0 where the system does not provide it. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * confinement().pageBytes
  } catch {
    return 0
  }
}
