import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithParent } from '../end-with-parent.mjs'
import { createTally, type Tally } from './tally.ts'

// Two more than there are cores, since tests wait as well (measured on 2 cores: a sixth sooner done than with one more). Each has databases,
// APIs and workers of its own; many more of them would wait for each other.
const filesAtOnce = Math.min(availableParallelism() + 2, 8)
const graceMs = 5_000

/** How long a test took, behind its title: of tests that share a thread it says mostly how long they waited for their turn. */
const duration = / \S*?\((?:\d+[hm] )*[\d.]+m?s\)\S*$/

/**
 * Runs AVA with these arguments, shows its report, and answers the count. Nothing of it is left afterwards, whether it ended
 * by itself or because it was told to stop.
 */
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
    // Nobody is left in it.
  }
}
