import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'

/** The pause after an answer is a tenth of the time waited so far, within these bounds: a long wait takes little of the machine. */
const pauseMs = { least: 10, most: 50 }

/** The longest wait of a test. */
export const longestWaitMs = 120_000

/** The result of `eventually`: any value except undefined, null and false. */
type Found<T> = Exclude<T, undefined | null | false>

/**
 * Asks until `ask` returns a value other than undefined, null or false, and returns it. Fails after `withinMs` with the last answer; the
 * bound is generous, since a busy machine is slow and no test depends on a rate. An error of `ask` ends the wait at once. The
 * error's message ends with `describe()`. Throws at once for a bound above `longestWaitMs`.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  withinMs = 60_000,
  describe: () => string | Promise<string> = () => String(ask),
): Promise<Found<T>> {
  if (withinMs > longestWaitMs) throw new Error(`A wait has at most ${longestWaitMs} ms, got ${withinMs}`)
  const failure = new Error()
  const began = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== null && answer !== false) return answer as Found<T>
    const waitedMs = performance.now() - began
    if (waitedMs >= withinMs) {
      failure.message = `Still ${inspect(answer)} after ${withinMs} ms: ${await describe()}`
      throw failure
    }
    await setTimeout(Math.min(Math.max(waitedMs / 10, pauseMs.least), pauseMs.most))
  }
}
