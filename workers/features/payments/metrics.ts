import { Gauge, type Registry } from 'prom-client'
import { linkStatuses } from '#shared/features/payments/links/schemas.ts'
import { countAllLinks, findSweepLags, type LinkCount, type SweepLag } from '#shared/features/payments/metrics-store.ts'
import type { Database } from '#shared/platform/db/database.ts'

/** Runs a query for metrics of the whole installation; no rows in processes that do not export them, or when the query fails. */
type MetricQuery = <T>(count: (database: Database) => Promise<readonly T[]>, what: string) => Promise<readonly T[]>

/** Registers gauges over all workspaces: payment links by status, and the longest time since a provider's last sweep. */
export function paymentGauges(registry: Registry, queryRows: MetricQuery): void {
  new Gauge({
    name: 'kontor_payment_links',
    help: 'Payment links by status; 100,000 are counted at most',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset()
      const counts = await queryRows((database) => database.query<LinkCount>(countAllLinks()), 'payment links')
      if (counts.length > 0) for (const state of linkStatuses) this.set({ state }, 0)
      for (const { status, count } of counts) this.set({ state: status }, count)
    },
  })
  new Gauge({
    name: 'kontor_payment_sweep_lag_seconds',
    help: 'Seconds since the last sweep of the connection that has waited longest; connections are swept every five minutes',
    labelNames: ['provider'],
    registers: [registry],
    async collect() {
      this.reset()
      const lags = await queryRows((database) => database.query<SweepLag>(findSweepLags(new Date())), 'sweeps of payments')
      for (const { provider, seconds } of lags) this.set({ provider }, Math.max(0, seconds))
    },
  })
}
