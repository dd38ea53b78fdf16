import { setTimeout } from 'node:timers/promises'

/** A database that recovers from a crash is back within a second or two; who waits for longer is told. */
const patienceMs = 3_000
const againMs = 50

/**
 * Connects to a database that may just be starting or recovering: it refuses sessions for that time, so nothing has begun and the refusal
 * is tried again, for 3 s at most. Every other failure is thrown at once.
 */
export async function retryWhileRecovering<T>(connect: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + patienceMs; ; ) {
    try {
      return await connect()
    } catch (error) {
      if ((error as { code?: string } | null)?.code !== '57P03' || performance.now() > end) throw error
      await setTimeout(againMs)
    }
  }
}
