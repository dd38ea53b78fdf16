import type { Bench, Side, Timed } from '#bench/case.ts'
import { sender } from '#bench/client.ts'
import { makeFunction, trivial } from '#bench/functions/make.ts'
import { sideOf } from '#bench/load.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

/** Times of runs in a sandbox of this process: no queue, no database. */
export async function bareRun(seconds: number): Promise<Timed> {
  const sandbox = new Sandbox({ size: 1, memoryMb: 128 })
  const request = {
    owner: 'bench',
    source: trivial,
    inputText: 'null',
    timeoutMs: 5_000,
    sdkMethods: ['records.get'],
    call: async () => null,
  }
  try {
    const times: number[] = []
    for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
      const started = performance.now()
      await sandbox.run(request)
      times.push(performance.now() - started)
    }
    return sideOf(times, seconds)
  } finally {
    await sandbox.close()
  }
}

const manyGets = (key: string) => `async function handler(ids) {
  const times = []
  for (const id of ids) { const started = Date.now(); await sdk.records.get('${key}', id); times.push(Date.now() - started) }
  return times.reduce((sum, time) => sum + time, 0) / times.length
}`

/** Time of one records.get within a run that does a thousand sequentially: the means of five runs. */
export async function sdkGet({ kontorUrl, loaded }: Bench): Promise<Side> {
  const send = sender(kontorUrl, loaded)
  const path = await makeFunction(send, manyGets(loaded.typical.key))
  const means: number[] = []
  for (let run = 0; run < 5; run++) {
    const ids = loaded.typical.ids.slice(0, 1_000)
    means.push((await send<{ readonly result: number }>('POST', `${path}/invoke`, { input: ids })).result)
  }
  const { p50Ms } = sideOf(means, 1)
  return { p50Ms, amount: 1_000 / p50Ms }
}
