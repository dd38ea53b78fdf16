import { setTimeout as delay } from 'node:timers/promises'
import type { Side } from '#bench/case.ts'
import type { Send } from '#bench/client.ts'
import { sideOf } from '#bench/load.ts'

/** Number of stations, and scans per second of each. */
const [stations, perSecond] = [4, 20]

/** One scan in this many repeats the one before, as after a double press of the trigger. */
const repeatEvery = 20

/**
 * Scans at all stations for some seconds, at their fixed rate and without waiting for earlier answers. A scan's time counts from when it was due.
 * `amount` is scans per second. Throws unless every scan has the expected verdict.
 */
export async function scanAtStations(send: Send, queuePath: string, keyAt: (index: number) => string, seconds: number): Promise<Side> {
  const times: number[] = []
  const started = performance.now()
  await Promise.all(Array.from({ length: stations }, (_, station) => work(station)))
  return sideOf(times, (performance.now() - started) / 1_000)

  async function work(station: number): Promise<void> {
    const sent: Promise<void>[] = []
    for (let number = 0; number < seconds * perSecond; number++) {
      const due = started + ((number + station / stations) * 1_000) / perSecond
      await delay(Math.max(0, due - performance.now()))
      const isRepeat = number % repeatEvery === repeatEvery - 1
      sent.push(scan(keyAt((isRepeat ? number - 1 : number) * stations + station), due))
    }
    await Promise.all(sent)
  }

  async function scan(key: string, due: number): Promise<void> {
    const { verdict } = await send<{ readonly verdict: string }>('POST', `${queuePath}/scan`, { key, to_stage: 'work' })
    if (verdict !== 'moved' && verdict !== 'duplicate') throw new Error(`${key} was judged ${verdict}`)
    times.push(performance.now() - due)
  }
}
