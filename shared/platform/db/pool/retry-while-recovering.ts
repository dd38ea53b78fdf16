import { setTimeout } from 'node:timers/promises'
import type { Part } from '#shared/platform/kernel/process/part.ts'

/** Milliseconds for which connecting is retried; a restart or a crash recovery normally takes a second or two. */
const maxWaitMs = 3_000
const retryMs = 50

/**
 * Connects to a database that may be starting or recovering. It refuses sessions then, so nothing has begun and the connection is
 * retried, until 3 s after the beginning of the outage. A process whose part `database` is given also waits that long for a port on which
 * nobody listens: a restart. Every other failure is thrown at once.
 */
export async function retryWhileRecovering<T>(connect: () => Promise<T>, part?: Part): Promise<T> {
  for (const end = performance.now() + maxWaitMs; ; ) {
    try {
      return await connect()
    } catch (error) {
      const { code } = (error ?? {}) as { readonly code?: string }
      const isRestarting = code === '57P03' || (part !== undefined && code === 'ECONNREFUSED')
      if (isRestarting) part?.failed(error)
      if (!isRestarting || performance.now() > end || (part?.awayMs ?? 0) > maxWaitMs) throw error
      await setTimeout(retryMs)
    }
  }
}
