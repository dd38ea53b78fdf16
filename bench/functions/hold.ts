import type { Bench, Side } from '#bench/case.ts'
import { sideOf } from '#bench/load.ts'

/** Invokes a function that returns 1 at a fixed rate per second, without waiting for earlier answers. `amount` is answers per second. */
export async function hold({ kontorUrl, loaded }: Bench, path: string, perSecond: number, seconds: number): Promise<Side> {
  const headers = { authorization: `Bearer ${loaded.token}`, 'content-type': 'application/json' }
  const times: number[] = []
  const send = async () => {
    const started = performance.now()
    const answer = await fetch(`${kontorUrl}${path}/invoke`, { method: 'POST', headers, body: '{}' })
    const { data } = (await answer.json()) as { data?: { result?: unknown } }
    if (data?.result === 1) times.push(performance.now() - started)
  }
  const sent: Promise<void>[] = []
  const started = performance.now()
  for (let count = 0; count < perSecond * seconds; count++) {
    const early = started + (count * 1_000) / perSecond - performance.now()
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early))
    sent.push(send().catch(() => undefined))
  }
  await Promise.all(sent)
  return sideOf(times, seconds)
}
