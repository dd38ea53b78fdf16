import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Reply } from '#bench/soak/client.ts'
import type { Kind } from '#bench/soak/kinds.ts'
import type { Ledger, Place } from '#bench/soak/ledger.ts'

/** One request. Times are those of performance.now(). */
export interface Sample {
  readonly kind: string
  /** When it was due. Its duration counts from here, so that waiting before it is sent counts too. */
  readonly dueAt: number
  readonly endedAt: number
  readonly status: number
  readonly failure?: string
}

/**
 * Sends requests of every kind at its fixed rate until `end`, without waiting for earlier answers; resolves after the last one. `underWay`
 * has the number of open requests of each kind.
 */
export async function keepPace(
  kinds: readonly Kind[],
  places: readonly Place[],
  client: Client,
  ledger: Ledger,
  end: number,
  underWay: Map<string, number>,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  const sent: Promise<void>[] = []
  const count = (kind: string, by: number) => underWay.set(kind, (underWay.get(kind) ?? 0) + by)
  const make = async ({ name, send }: Kind, place: Place, dueAt: number): Promise<void> => {
    count(name, 1)
    const reply: Reply = await send(place, client, ledger)
    count(name, -1)
    const { status, failure = status < 300 ? undefined : reply.text.slice(0, 200) } = reply
    samples.push({ kind: name, dueAt, endedAt: performance.now(), status, ...(failure === undefined ? {} : { failure }) })
  }
  const caller = async (kind: Kind, number: number): Promise<void> => {
    const gap = 1_000 / kind.perSecond
    // The callers start at different times, so that their requests are spread.
    const first = performance.now() + (gap * number) / kinds.length
    for (let index = 0; ; index++) {
      const dueAt = first + index * gap
      if (dueAt >= end) return
      const early = dueAt - performance.now()
      if (early > 1) await delay(early)
      sent.push(make(kind, places[index % places.length] as Place, dueAt))
    }
  }
  await Promise.all(kinds.map(caller))
  await Promise.all(sent)
  return samples
}
