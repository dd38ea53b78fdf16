import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The most memory that a process has held so far, in megabytes; where the system does not keep that, what it holds now. */
export function peakMegabytes(pid: number): number {
  return kilobytesOf(pid) / 1_024
}

function kilobytesOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  }
}
