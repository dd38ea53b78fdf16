import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { median, seconds } from '#test/faults/measure.ts'
import { startRetryingProxy } from '#test/faults/retrying-proxy.ts'
import { openSite } from '#test/faults/site.ts'

const apiRestarts = 20
const workerRestarts = 10

/** Each process is stopped and started again twenty times, one after the other, as with new versions, and no caller notices. */
export const rollingRestart: FaultCase = {
  name: 'SIGTERM of one process after the other',
  limitSeconds: 420,
  run: async (t) => {
    const site = await openSite(t)
    const roots = site.apis.map(({ root }) => root)
    const proxy = await startRetryingProxy(t, roots)
    const load = await startLoad(site.org, [proxy])
    const wrong = new Set<string>()
    const stops: number[] = []
    const roll = async (members: typeof site.apis, restarts: number, what: string) => {
      for (let restart = 0; restart < restarts; restart++) {
        const one = members[restart % members.length]
        const began = performance.now()
        const code = await one?.stop()
        stops.push(performance.now() - began)
        if (code !== 0) wrong.add(`${what} ended on request with ${code}`)
        await one?.start()
      }
    }
    await Promise.all([roll(site.apis, apiRestarts, 'An API'), roll(site.workers, workerRestarts, 'A worker')])
    const figures = await settleAccounts(
      site,
      load,
      apiRestarts + workerRestarts,
      `stops within ${seconds(median(stops))}, at most ${seconds(Math.max(...stops))}`,
    )
    if (figures.failed > 0) wrong.add(`${figures.failed} requests failed: ${proxy.failures.join(', ')}`)
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
}
