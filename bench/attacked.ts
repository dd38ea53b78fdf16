import { Agent } from 'undici'
import type { Side } from '#bench/case.ts'
import { sideOf } from '#bench/load.ts'

/** The workspace that is measured, and the calls that it repeats in order; their number is odd, so that the median is one call's time. */
interface Victim {
  readonly url: string
  readonly token: string
  readonly workspaceId: string
  readonly probes: readonly (readonly [method: string, path: string, body?: object])[]
}

/** Repeats the calls of an attack with this many concurrent callers, whatever the answers are. */
export type Press = (callers: number, call: (index: number) => Promise<unknown>) => void

/** Maximum wait for the attack's last answers, in milliseconds. */
const drainMs = 20_000

const healthEveryMs = 50

/**
 * Measures a workspace for some seconds during the attack that `begin` starts. First sends each kind of call once. With `arrivesAfterMs` the
 * workspace is silent until the attack has run so long, and its first calls are measured too.
 */
export async function attacked(victim: Victim, seconds: number, begin: (press: Press) => void, arrivesAfterMs = 0): Promise<Side> {
  const own = new Agent({ connections: 1 })
  const call = probing(victim, own)
  if (arrivesAfterMs === 0) for (const _ of victim.probes) await call()
  const end = performance.now() + arrivesAfterMs + seconds * 1_000
  const isOpen = () => performance.now() < end
  const attack: Promise<void>[] = []
  begin((callers, work) => {
    for (let caller = 0; caller < callers; caller++) attack.push(repeat(isOpen, caller, callers, work))
  })
  await new Promise((resolve) => setTimeout(resolve, arrivesAfterMs))
  const health = healthOf(victim.url, isOpen)
  const [times, began] = [[] as number[], performance.now()]
  let failed = 0
  while (isOpen()) {
    const { ms, status } = await call()
    times.push(ms)
    if (status >= 500) failed += 1
  }
  const elapsed = (performance.now() - began) / 1_000
  const healthMs = await health
  const timeout = AbortSignal.timeout(drainMs)
  await Promise.race([Promise.all(attack), new Promise((resolve) => timeout.addEventListener('abort', resolve))])
  await own.close()
  return { ...sideOf(times, elapsed), slowestMs: Math.max(...times), failed, healthMs }
}

/** Repeats a call until the measurement ends. A call that fails, as attacks are often refused, is followed by a pause of 20 ms. */
async function repeat(isOpen: () => boolean, caller: number, callers: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = caller; isOpen(); index += callers) {
    await work(index).catch(() => new Promise((resolve) => setTimeout(resolve, 20)))
  }
}

function probing({ url, token, workspaceId, probes }: Victim, dispatcher: Agent) {
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
    await new Promise((resolve) => setTimeout(resolve, healthEveryMs))
  }
  return slowest
}
