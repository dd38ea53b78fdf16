import { setTimeout } from 'node:timers/promises'

/** Milliseconds for which connecting is retried; crash recovery normally takes a second or two. */
const maxWaitMs = 3_000
const retryMs = 50

/**
 * Connects to a database that may be starting or recovering. It refuses sessions then, so nothing has begun and the connection is
 * retried for at most 3 s. Every other failure is thrown at once.
 */
export async function retryWhileRecovering<T>(connect: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + maxWaitMs; ; ) {
    try {
      return await connect()
    } catch (error) {
      if ((error as { code?: string } | null)?.code !== '57P03' || performance.now() > end) throw error
      await setTimeout(retryMs)
    }
  }
}
