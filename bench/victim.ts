import { parentPort, workerData } from 'node:worker_threads'
import { Agent } from 'undici'

/** The workspace that is measured, and the calls that it repeats in order; their number is odd, so that the median is one call's time. */
export interface Victim {
  readonly url: string
  readonly token: string
  readonly workspaceId: string
  readonly probes: readonly (readonly [method: string, path: string, body?: object])[]
}

/** What the thread of a victim is given. */
export interface Watch {
  readonly victim: Victim
  /** Milliseconds from the start until the first call. */
  readonly arrivesAfterMs: number
  /** Milliseconds from the first call until the end. */
  readonly lastsMs: number
}

/** What it saw: milliseconds of each call in their order, answers of 500 and above, and the slowest answer of `/healthz`. */
export interface Seen {
  readonly times: readonly number[]
  readonly failed: number
  readonly healthMs: number
}

const healthEveryMs = 50

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * A victim calls in a thread of its own: the client of an attack that reads megabytes would delay its answers, which is not the server's
 * delay.
 */
async function watch({ victim, arrivesAfterMs, lastsMs }: Watch): Promise<Seen> {
  const call = probing(victim)
  if (arrivesAfterMs === 0) for (const _ of victim.probes) await call()
  parentPort?.postMessage('ready')
  await pause(arrivesAfterMs)
  const end = performance.now() + lastsMs
  const isOpen = () => performance.now() < end
  const health = healthOf(victim.url, isOpen)
  const times: number[] = []
  let failed = 0
  while (isOpen()) {
    const { ms, status } = await call()
    times.push(ms)
    if (status >= 500) failed += 1
  }
  return { times, failed, healthMs: await health }
}

function probing({ url, token, workspaceId, probes }: Victim) {
  const dispatcher = new Agent({ connections: 1 })
  let index = 0
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return async (): Promise<{ readonly ms: number; readonly status: number }> => {
    const [method, path, body] = probes[index++ % probes.length] as Victim['probes'][number]
    const began = performance.now()
    const { statusCode, body: answer } = await dispatcher.request({
      origin: url,
      path: `/v1/orgs/${workspaceId}${path}`,
      method: method as 'GET',
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    await answer.dump()
    return { ms: performance.now() - began, status: statusCode }
  }
}

/** The slowest answer of `/healthz`, in milliseconds. */
async function healthOf(url: string, isOpen: () => boolean): Promise<number> {
  let slowest = 0
  while (isOpen()) {
    const began = performance.now()
    await fetch(`${url}/healthz`).then((answer) => answer.arrayBuffer())
    slowest = Math.max(slowest, performance.now() - began)
    await pause(healthEveryMs)
  }
  return slowest
}

if (parentPort) parentPort.postMessage(await watch(workerData))
