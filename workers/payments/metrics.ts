import { Gauge, type Registry } from 'prom-client'
import type { Database } from '#shared/db/database.ts'
import { linkStatuses } from '#shared/payments/link.ts'
import { countAllLinks, findSweepLags, type LinkCount, type SweepLag } from '#shared/payments/store/figures-store.ts'

/** Asks the database where this process tells of the whole installation; gives nothing where it does not, or cannot be told. */
type Ask = <T>(count: (database: Database) => Promise<readonly T[]>, what: string) => Promise<readonly T[]>

/** Adds gauges of payments in all workspaces: where their links stand, and since when their providers have not been asked what happened. */
export function paymentGauges(registry: Registry, ask: Ask): void {
  new Gauge({
    name: 'kontor_payment_links',
    help: 'Payment links, by where they stand; 100,000 are counted at most',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset()
      const counts = await ask((database) => database.query<LinkCount>(countAllLinks()), 'payment links')
      if (counts.length > 0) for (const state of linkStatuses) this.set({ state }, 0)
      for (const { status, count } of counts) this.set({ state: status }, count)
    },
  })
  new Gauge({
    name: 'kontor_payment_sweep_lag_seconds',
    help: 'Since when the connection that has waited longest was not asked what happened at its provider; they are asked every five minutes',
    labelNames: ['provider'],
    registers: [registry],
    async collect() {
      this.reset()
      const lags = await ask((database) => database.query<SweepLag>(findSweepLags(new Date())), 'sweeps of payments')
      for (const { provider, seconds } of lags) this.set({ provider }, Math.max(0, seconds))
    },
  })
}
