import { setTimeout as delay } from 'node:timers/promises'
import type { FaultCase, Figures, Skipped } from '#test/faults/case.ts'

/** The result of a case; `failures` are the reasons why it did not pass. */
export interface Outcome {
  readonly name: string
  readonly seconds: number
  readonly result: Figures | Skipped | undefined
  readonly failures: readonly string[]
}

/** The limits of cases are those of a quiet machine; a shared one may be four times as slow. */
const slowest = 4

/** Runs a case within its time, and ends everything that it started. */
export async function runCase({ name, limitSeconds, run }: FaultCase): Promise<Outcome> {
  const began = performance.now()
  const ends: (() => unknown)[] = []
  const over = new AbortController()
  const seconds = limitSeconds * slowest
  const tooLate = delay(seconds * 1_000, undefined, { signal: over.signal }).then(() => {
    throw new Error(`It took longer than ${seconds} s`)
  })
  let result: Figures | Skipped | undefined
  const failures: string[] = []
  try {
    const running = run({ teardown: (end) => void ends.push(end), hasFailed: () => failures.length > 0 })
    // Work that continues after the time fails once its things are ended.
    running.catch(() => undefined)
    result = await Promise.race([running, tooLate])
    failures.push(...failuresOf(result))
  } catch (error) {
    failures.push(String((error as Error).stack ?? error))
  } finally {
    over.abort()
    tooLate.catch(() => undefined)
    for (const end of ends.reverse()) await Promise.resolve(end()).catch((error: unknown) => failures.push(`At the end: ${error}`))
  }
  return { name, seconds: (performance.now() - began) / 1000, result, failures }
}

function failuresOf(result: Figures | Skipped): string[] {
  if ('skipped' in result) return []
  const { faults, acknowledged, lost, repeated, hung, wrong } = result
  const named = { 'acknowledged and lost': lost, repeated, hung }
  const failures = Object.entries(named).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []))
  const empty = Object.entries({ 'The fault never happened': faults, 'Nothing was acknowledged': acknowledged })
  return [...failures, ...empty.flatMap(([what, count]) => (count === 0 ? [`${what}, so nothing was shown`] : [])), ...wrong]
}
