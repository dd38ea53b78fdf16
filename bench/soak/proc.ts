import { readdir, readFile } from 'node:fs/promises'

/** Bytes of memory of a process: all that is resident, and what of it is its own and no file's or shared. */
export interface Memory {
  readonly resident: number
  readonly own: number
}

/** A process's memory, undefined when it is gone or where the system does not tell (it is Linux's /proc that does). */
export async function memoryOf(pid: number): Promise<Memory | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1_024
  return text.includes('VmRSS') ? { resident: kilobytes('VmRSS'), own: kilobytes('RssAnon') } : undefined
}

/** The processes that a process has started and that still run, in the order of their ids. */
export async function childrenOf(parent: number): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.map(Number).filter(Number.isInteger)
  const parents = await Promise.all(pids.map(parentOf))
  return pids.filter((_, index) => parents[index] === parent).sort((one, other) => one - other)
}

/** Undefined when it is gone. */
export async function parentOf(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses may hold anything.
  const parent = text.slice(text.lastIndexOf(')') + 2).split(' ')[1]
  return parent === undefined ? undefined : Number(parent)
}
