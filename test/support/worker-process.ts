import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { readProcfile } from '#scripts/start/procfile.ts'
import type { World } from '#test/support/world.ts'

const root = join(import.meta.dirname, '..', '..')

/** A worker that runs by itself, to be killed or held in the middle of its work. */
export interface WorkerProcess {
  readonly pid: number
  /** Sends a signal; resolves once the process has ended when it is one that ends it at once. */
  readonly kill: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => Promise<void>
}

/** Starts the process of this name in the Procfile on a world's database; the test's end ends it at the latest. */
export async function startWorkerProcess(t: ExecutionContext, w: Pick<World, 'config'>, name: string): Promise<WorkerProcess> {
  const line = readProcfile(join(root, 'Procfile')).find((type) => type.name === name)
  const [, ...args] = line?.command.split(' ') ?? []
  const child = spawn(process.execPath, args, {
    cwd: root,
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
    pid: child.pid ?? 0,
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
