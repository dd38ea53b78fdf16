import type { ExecutionContext } from 'ava'
import { end, startProcess } from '#test/support/process.ts'
import type { World } from '#test/support/world.ts'

/** A worker process that can be killed or stopped during its work. */
export interface WorkerProcess {
  readonly pid: number
  /** Sends a signal; resolves once the process has ended if the signal ends it at once. */
  readonly kill: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => Promise<void>
}

/** Starts the worker of this name in the Procfile on a world's database; it ends with the test at the latest. */
export async function startWorkerProcess(
  t: ExecutionContext,
  w: Pick<World, 'config'>,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerProcess> {
  const child = await startProcess(t, w, name, environment)
  return {
    pid: child.pid ?? 0,
    kill: async (signal) => {
      if (signal === 'SIGKILL') await end(child)
      else child.kill(signal)
    },
  }
}
