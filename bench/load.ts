import { Pool } from 'undici'
import type { Timed } from '#bench/case.ts'

/** One kind of request; `make` returns the path and body of the nth, and its own headers. */
export interface Shot {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly make: (index: number) => { readonly path: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Content type of the body; JSON by default. */
  readonly contentType?: string
  /** Credentials of the request. */
  readonly token: string
}

/** Destination of a shot, the number of connections, and how long or how often it is sent. */
export type Target = { readonly url: string; readonly connections: number } & ({ readonly seconds: number } | { readonly requests: number })

/** Maximum warm-up. */
const warmUpSeconds = 1

/**
 * Sends requests over several connections, sequentially on each, after a warm-up of a quarter of the time if a time is given. `amount` is
 * requests per second. Any failure ends the run.
 */
export async function load({ url, connections, ...span }: Target, shot: Shot): Promise<Timed> {
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 120_000 })
  const headers = { authorization: `Bearer ${shot.token}`, 'content-type': shot.contentType ?? 'application/json' }
  let index = 0
  const send = async () => {
    const { path, body, headers: own } = shot.make(index++)
    const answer = await pool.request({
      path,
      method: shot.method,
      headers: { ...headers, ...own },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${shot.method} ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  try {
    if ('seconds' in span) await during(Math.min(warmUpSeconds, span.seconds / 4), connections, send)
    const started = performance.now()
    const times =
      'seconds' in span ? await during(span.seconds, connections, send) : await sending(() => index < span.requests, connections, send)
    return sideOf(times, (performance.now() - started) / 1_000)
  } finally {
    await pool.close()
  }
}

/** Figures of requests with these times in milliseconds, which together took this many seconds. */
export function sideOf(times: readonly number[], elapsedSeconds: number): Timed {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { amount: times.length / elapsedSeconds, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}

function during(seconds: number, connections: number, send: () => Promise<void>): Promise<number[]> {
  const end = performance.now() + seconds * 1_000
  return sending(() => performance.now() < end, connections, send)
}

async function sending(isOpen: () => boolean, connections: number, send: () => Promise<void>): Promise<number[]> {
  const times: number[] = []
  const one = async () => {
    while (isOpen()) {
      const started = performance.now()
      await send()
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  return times
}
