import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { openSite } from '#test/faults/site.ts'

const heapMegabytes = 56
const greedyClients = 24
const forMs = 30_000

/** APIs with far too little memory for their requests: each may die and is restarted. */
export const memoryPressure: FaultCase = {
  name: 'APIs run out of memory',
  limitSeconds: 150,
  run: async (t) => {
    const site = await openSite(t, { apiEnvironment: { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` } })
    const load = await startLoad(site.org, site.apis)
    const end = Date.now() + forMs
    let deaths = 0
    const supervise = async (api: (typeof site.apis)[number]) => {
      for (; Date.now() < end; await delay(50)) {
        if (api.lives) continue
        deaths += 1
        // It may die before it is ready.
        await api.start().catch(() => undefined)
      }
    }
    const body = JSON.stringify({ values: { name: randomUUID(), address: 'x'.repeat(400_000), notes: Array(100_000).fill(0) } })
    const headers = { authorization: `Bearer ${site.org.owner.token}`, 'content-type': 'application/json' }
    const ask = async (client: number) => {
      const { root } = site.apis[client % site.apis.length] ?? { root: '' }
      while (Date.now() < end) {
        const answer = fetch(`${root}${site.org.path}/records/locations`, { method: 'POST', headers, body })
        await answer.then((response) => response.arrayBuffer()).catch(() => delay(50))
      }
    }
    await Promise.all([...site.apis.map(supervise), ...Array.from({ length: greedyClients }, (_, client) => ask(client))])
    for (const api of site.apis) if (!api.lives) await api.start()
    return settleAccounts(site, load, deaths, `${deaths} died of ${heapMegabytes} MB and were started again`)
  },
}
