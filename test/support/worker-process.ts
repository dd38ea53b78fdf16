import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { World } from '#test/support/world.ts'

const program = join(import.meta.dirname, '..', '..', 'workers', 'main.ts')

/** A worker that runs by itself, to be killed or held in the middle of its work. */
export interface WorkerProcess {
  /** Sends a signal; resolves once the process has ended when it is one that ends it at once. */
  readonly kill: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>
}

/** Starts `node workers/main.ts --pools=…` on a world's database; the test's end ends it at the latest. */
export async function startWorkerProcess(t: ExecutionContext, w: Pick<World, 'config'>, pools: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [program, `--pools=${pools}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      DATABASE_URL: w.config.databaseUrl,
      DATA_DIR: w.config.dataDir,
      SECRET_KEY: w.config.secretKey.toString('hex'),
      DATABASE_CONNECTIONS: '4',
      LOG_LEVEL: 'silent',
    },
  })
  await once(child, 'spawn')
  t.teardown(() => end(child))
  return {
    kill: async (signal) => {
      if (signal === 'SIGKILL') await end(child)
      else child.kill(signal)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
