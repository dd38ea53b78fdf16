import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { median, seconds } from '#test/faults/measure.ts'
import { type Network, startNetwork } from '#test/faults/network.ts'
import { openSite } from '#test/faults/site.ts'

/** Time before the network gets worse. */
const wellMs = 2_000

/**
 * The first API and the first worker reach the database through a network that gets worse and recovers; the second ones are not affected.
 * Requests end in time, and no process has to be restarted.
 */
const networkFault = (name: string, times: number, badMs: number, worsen: (network: Network) => Promise<void>): FaultCase => ({
  name,
  limitSeconds: 180,
  run: async (t) => {
    const networks: Network[] = []
    const through = async (databaseUrl: string) => {
      const network = await startNetwork(t, databaseUrl)
      networks.push(network)
      return network.url
    }
    const site = await openSite(t, { through })
    const load = await startLoad(site.org, site.apis)
    const [network] = networks
    const returns: number[] = []
    if (!network) throw new Error('Nobody asked for the network')
    for (let time = 0; time < times; time++) {
      await delay(wellMs)
      if (network.links === 0) throw new Error('Nobody goes through the network')
      await worsen(network)
      await delay(badMs)
      network.mend()
      const began = performance.now()
      await Promise.all([...site.apis, ...site.workers].map(({ back }) => back()))
      returns.push(performance.now() - began)
    }
    const note = `serves again ${seconds(median(returns))} after it is mended, at most ${seconds(Math.max(...returns))}`
    return settleAccounts(site, load, times, note)
  },
})

export const networkCut = networkFault('connections to the database break off', 5, 1_000, async (network) => network.cut())

export const networkStalled = networkFault('nothing comes through to the database', 2, 12_000, async (network) => network.stall())

/** Connections that are lost without notice. */
export const networkForgotten = networkFault('connections to the database are forgotten', 2, 12_000, async (network) => {
  network.stall()
  await delay(1_000)
  network.forget()
})

export const networkSlow = networkFault('the database is 100 ms away', 1, 8_000, async (network) => network.delay(50))
