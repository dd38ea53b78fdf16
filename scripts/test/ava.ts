import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithParent } from '../end-with-parent.mjs'
import { createTally, type Tally } from './tally.ts'

// Two more than there are cores, because tests also wait (on 2 cores a sixth faster than one more). Each thread has databases, APIs and
// workers of its own; many more threads would wait for each other.
const filesAtOnce = Math.min(availableParallelism() + 2, 8)
const graceMs = 5_000

/** The duration behind a test's title: tests that share a thread mostly wait for each other, so it says little. */
const duration = / \S*?\((?:\d+[hm] )*[\d.]+m?s\)\S*$/

/** Runs AVA with these arguments, shows its report, and returns the count. No process remains, whether it ended or was stopped. */
export async function runAva(args: readonly string[], env: NodeJS.ProcessEnv, stop: AbortSignal, isGrouped: boolean): Promise<Tally> {
  const cli = join(import.meta.dirname, '..', '..', 'node_modules', 'ava', 'entrypoints', 'cli.js')
  const concurrency = `--concurrency=${filesAtOnce}`
  const preloaded = `--import=${new URL('collect-alone.mjs', import.meta.url).href}`
  const [command = '', ...rest] = [...endWithParent('KILL'), process.execPath, preloaded, cli, concurrency, ...args]
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(command, rest, { env: { ...env, ...colour }, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const end = (signal: NodeJS.Signals) => endGroup(child.pid, signal)
  stop.addEventListener('abort', () => {
    end('SIGINT')
    setTimeout(end, graceMs, 'SIGKILL').unref()
  })

  const tally = createTally()
  createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    process.stdout.write(`${isGrouped ? line.replace(duration, '') : line}\n`)
    tally.read(line)
  })
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
  end('SIGKILL')
  return tally.result(exitCode)
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal)
  } catch {
    // The group is empty.
  }
}
