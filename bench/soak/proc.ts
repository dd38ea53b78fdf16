import { readdir, readFile } from 'node:fs/promises'

/** Memory of a process in bytes: resident in total, and private without files and shared memory. */
export interface Memory {
  readonly resident: number
  readonly own: number
}

/** A process's memory; undefined if the process is gone or there is no /proc (only Linux has it). */
export async function memoryOf(pid: number): Promise<Memory | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1_024
  return text.includes('VmRSS') ? { resident: kilobytes('VmRSS'), own: kilobytes('RssAnon') } : undefined
}

/** Running children of a process, ordered by id. */
export async function childrenOf(parent: number): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.map(Number).filter(Number.isInteger)
  const parents = await Promise.all(pids.map(parentOf))
  return pids.filter((_, index) => parents[index] === parent).sort((one, other) => one - other)
}

/** Undefined if it is gone. */
export async function parentOf(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses may contain anything.
  const parent = text.slice(text.lastIndexOf(')') + 2).split(' ')[1]
  return parent === undefined ? undefined : Number(parent)
}
