import type { Bench } from '#bench/case.ts'
import { pathIn, sender } from '#bench/client.ts'
import { makeFunction } from '#bench/functions/make.ts'

/** Load by another workspace: concurrent callers that invoke functions again and again. */
export interface Noise {
  readonly sources: readonly string[]
  readonly callers: number
  readonly timeoutMs: number
}

/** Makes the functions of the load and returns a way to run work beside it. */
export async function makeNoise({ kontorUrl, loaded }: Bench, { sources, callers, timeoutMs }: Noise): Promise<Beside> {
  const neighbour = { token: loaded.token, workspaceId: loaded.neighbours[0].workspaceId }
  const paths: string[] = []
  for (const source of sources) paths.push(pathIn(neighbour, await makeFunction(sender(kontorUrl, neighbour), source, timeoutMs)))
  const headers = { authorization: `Bearer ${loaded.token}`, 'content-type': 'application/json' }
  return async (work) => {
    let [next, isOver] = [0, false]
    const caller = async () => {
      while (!isOver)
        await (await fetch(`${kontorUrl}${paths[next++ % paths.length]}/invoke`, { method: 'POST', headers, body: '{}' })).text()
    }
    const running = Array.from({ length: callers }, caller)
    try {
      return await work()
    } finally {
      isOver = true
      await Promise.all(running)
    }
  }
}

/** Runs some work during the load. */
export type Beside = <T>(work: () => Promise<T>) => Promise<T>
