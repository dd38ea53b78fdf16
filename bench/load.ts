import { Pool } from 'undici'

/** One request of a case; `make` gives the path and body of the nth. */
export interface Shot {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly make: (index: number) => { readonly path: string; readonly body?: string }
  /** Whose credentials it carries; the owner's without. */
  readonly token?: string
}

export interface Figures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

/** Sends requests over some connections, one after the other on each, for some seconds after a second of warm-up. Any failure ends the run. */
export async function load(root: string, token: string, shot: Shot, connections: number, seconds: number): Promise<Figures> {
  const pool = new Pool(root, { connections, pipelining: 1 })
  const headers = { authorization: `Bearer ${shot.token ?? token}`, 'content-type': 'application/json' }
  let index = 0
  const send = async () => {
    const { path, body } = shot.make(index++)
    const answer = await pool.request({ path, method: shot.method, headers, ...(body === undefined ? {} : { body }) })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${shot.method} ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  try {
    await until(performance.now() + 1_000, connections, send)
    const started = performance.now()
    const times = await until(started + seconds * 1_000, connections, send)
    const elapsed = (performance.now() - started) / 1_000
    times.sort((one, other) => one - other)
    const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
    return { perSecond: times.length / elapsed, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
  } finally {
    await pool.close()
  }
}

async function until(end: number, connections: number, send: () => Promise<void>): Promise<number[]> {
  const times: number[] = []
  const one = async () => {
    while (performance.now() < end) {
      const started = performance.now()
      await send()
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  return times
}
