import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { untilBusy } from '#test/faults/load/busy.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { openSite } from '#test/faults/site.ts'

const kills = 12

/** A worker is killed while it runs functions and imports; another worker completes its work, or it is answered as interrupted. */
export const workerKilled: FaultCase = {
  name: 'kill -9 of a worker in the middle of jobs',
  limitSeconds: 180,
  run: async (t) => {
    const site = await openSite(t)
    const load = await startLoad(site.org, site.apis)
    for (let kill = 0; kill < kills; kill++) {
      const worker = site.workers[kill % site.workers.length]
      await untilBusy(site)
      await worker?.kill()
      await worker?.start()
    }
    return settleAccounts(site, load, kills)
  },
}
