import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Side } from '#bench/case.ts'
import { sideOf } from '#bench/load.ts'
import type { Seen, Victim, Watch } from '#bench/victim.ts'

/** Repeats the calls of an attack with this many concurrent callers, whatever the answers are. */
export type Press = (callers: number, call: (index: number) => Promise<unknown>) => void

/** Maximum wait for the attack's last answers, in milliseconds. */
const drainMs = 20_000

/**
 * Measures a workspace for some seconds during the attack that `begin` starts. First sends each kind of call once. With `arrivesAfterMs` the
 * workspace is silent until the attack has run so long, and its first calls are measured too.
 */
export async function attacked(victim: Victim, seconds: number, begin: (press: Press) => void, arrivesAfterMs = 0): Promise<Side> {
  const watch: Watch = { victim, arrivesAfterMs, lastsMs: seconds * 1_000 }
  const thread = new Worker(new URL('victim.ts', import.meta.url), { workerData: watch })
  await once(thread, 'message')
  let isOpen = true
  const attack: Promise<void>[] = []
  begin((callers, work) => {
    for (let caller = 0; caller < callers; caller++) attack.push(repeat(() => isOpen, caller, callers, work))
  })
  const [{ times, failed, healthMs }] = (await once(thread, 'message')) as [Seen]
  isOpen = false
  await Promise.race([Promise.all(attack), delay(drainMs, undefined, { ref: false })])
  await thread.terminate()
  return { ...sideOf([...times], seconds), slowestMs: Math.max(...times), failed, healthMs }
}

/** Repeats a call until the measurement ends. A call that fails, as attacks are often refused, is followed by a pause of 20 ms. */
async function repeat(isOpen: () => boolean, caller: number, callers: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = caller; isOpen(); index += callers) {
    await work(index).catch(() => delay(20))
  }
}
