import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { median, seconds } from '#test/faults/measure.ts'
import { openSite } from '#test/faults/site.ts'

const kills = 50

/** Every API is killed in turn while the other serves; it must be ready again within three seconds. */
export const apiKilled: FaultCase = {
  name: 'kill -9 of an API',
  limitSeconds: 300,
  run: async (t) => {
    const site = await openSite(t)
    const load = await startLoad(site.org, site.apis)
    const restarts: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      const api = site.apis[kill % site.apis.length]
      await api?.kill()
      restarts.push((await api?.start()) ?? 0)
    }
    const figures = await settleAccounts(
      site,
      load,
      kills,
      `ready again after ${seconds(median(restarts))}, at most ${seconds(Math.max(...restarts))}`,
    )
    return median(restarts) > 3_000 ? { ...figures, wrong: [...figures.wrong, 'An API takes more than 3 s to be ready again'] } : figures
  },
}
