import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { median, seconds } from '#test/faults/measure.ts'
import { openSite } from '#test/faults/site.ts'

const kills = 50

/** An API that nothing else delays is ready within this. Under the load of the case it competes for the processors. */
const aimMs = 3_000

/** Every API is killed in turn while the other serves. */
export const apiKilled: FaultCase = {
  name: 'kill -9 of an API',
  limitSeconds: 300,
  run: async (t) => {
    const site = await openSite(t)
    const quiet: number[] = []
    for (const api of site.apis) {
      await api.kill()
      quiet.push(await api.start())
    }
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
      `ready again after ${seconds(median(restarts))}, at most ${seconds(Math.max(...restarts))}; without load ${seconds(median(quiet))}`,
    )
    const slow = `An API takes more than ${seconds(aimMs)} to be ready without load`
    return median(quiet) > aimMs ? { ...figures, wrong: [...figures.wrong, slow] } : figures
  },
}
