import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from '#test/support/eventually.ts'

/** The processes that a process has started and that live. */
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

/** Whether there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Bytes that a process holds in memory; 0 where the system does not say. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * 4096
  } catch {
    return 0
  }
}
