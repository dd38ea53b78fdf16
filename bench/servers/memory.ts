import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { serverOf } from '#bench/soak/memory.ts'
import { childrenOf, memoryOf } from '#bench/soak/proc.ts'

/** Peak memory of a process in megabytes; its present memory where the system has no peak. */
export function peakMegabytes(pid: number): number {
  try {
    return megabytes(pid, 'VmHWM')
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024
  }
}

/** Present memory of a process, in megabytes. */
export const residentMegabytes = (pid: number): number => megabytes(pid, 'VmRSS')

const megabytes = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024

/** Private memory of all processes of a database server, in megabytes. */
export async function serverMegabytes(databaseUrl: string): Promise<number> {
  const backends = await childrenOf(await serverOf(databaseUrl))
  const sizes = await Promise.all(backends.map(async (pid) => (await memoryOf(pid))?.own ?? 0))
  return sizes.reduce((total, size) => total + size, 0) / 1_048_576
}
