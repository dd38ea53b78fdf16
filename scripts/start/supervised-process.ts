import { setTimeout as delay } from 'node:timers/promises'
import { runChild } from './child.ts'
import type { Say } from './output.ts'
import type { ProcessType } from './procfile.ts'

/** A process that is restarted whenever it ends, until it is stopped. */
export type SupervisedProcess = {
  /** The process that runs now, or the last one that ran. */
  readonly pid: () => number | undefined
  /** Number of unexpected ends. */
  readonly ends: () => number
  /** Sends SIGTERM; kills what is left of the group when the process has ended, or after `graceMs`. Resolves when the process has ended. */
  readonly stop: (graceMs: number) => Promise<void>
}

const firstWaitMs = 500
const longestWaitMs = 30_000
/** A run of this length resets the wait before a restart. */
const healthyMs = 30_000

/** Starts a process of the Procfile with these variables and restarts it whenever it ends. */
export function supervise({ name, command }: ProcessType, environment: NodeJS.ProcessEnv, say: Say): SupervisedProcess {
  const stopped = new AbortController()
  let ends = 0
  let child = runChild(command, environment, say)
  const finished = keep()
  return {
    pid: () => child.pid,
    ends: () => ends,
    stop: async (graceMs) => {
      stopped.abort()
      child.kill('SIGTERM')
      await Promise.race([finished, delay(graceMs, null, { ref: false })])
      child.sweep()
      await finished
    },
  }

  async function keep(): Promise<void> {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const startedAt = Date.now()
      const reason = await child.ended
      child.sweep()
      if (stopped.signal.aborted) return
      ends += 1
      if (Date.now() - startedAt > healthyMs) waitMs = firstWaitMs
      say(`${name} ended${reason && ` (${reason})`}, starting it again in ${waitMs / 1000} s`)
      await delay(waitMs, null, { signal: stopped.signal }).catch(() => {})
      if (stopped.signal.aborted) return
      child = runChild(command, environment, say)
    }
  }
}
