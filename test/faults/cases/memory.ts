import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { openSite } from '#test/faults/site.ts'

// An API holds 46 MB when it is idle.
const heapMegabytes = 56
const greedyClients = 24
/** The load ends after this time if an API died, and else once one has died or the longer time is over. */
const forMs = 30_000
const atMostMs = 90_000

/** APIs with far too little memory for their requests: each may die and is restarted. */
export const memoryPressure: FaultCase = {
  name: 'APIs run out of memory',
  limitSeconds: 200,
  run: async (t) => {
    const site = await openSite(t, { apiEnvironment: { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` } })
    const load = await startLoad(site.org, site.apis)
    const began = Date.now()
    let deaths = 0
    const isOver = () => Date.now() > began + (deaths > 0 ? forMs : atMostMs)
    const supervise = async (api: (typeof site.apis)[number]) => {
      for (; !isOver(); await delay(50)) {
        if (api.lives) continue
        deaths += 1
        // It may die before it is ready.
        await api.start().catch(() => undefined)
      }
    }
    const body = JSON.stringify({ values: { name: randomUUID(), notes: Array(300_000).fill({}) } })
    const headers = { authorization: `Bearer ${site.org.owner.token}`, 'content-type': 'application/json' }
    const ask = async (client: number) => {
      const { root } = site.apis[client % site.apis.length] ?? { root: '' }
      while (!isOver()) {
        const answer = fetch(`${root}${site.org.path}/records/locations`, { method: 'POST', headers, body })
        await answer.then((response) => response.arrayBuffer()).catch(() => delay(50))
      }
    }
    await Promise.all([...site.apis.map(supervise), ...Array.from({ length: greedyClients }, (_, client) => ask(client))])
    for (const api of site.apis) if (!api.lives) await api.start()
    return settleAccounts(site, load, deaths, `${deaths} died of ${heapMegabytes} MB and were started again`)
  },
}
