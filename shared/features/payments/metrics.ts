import { linkStatuses } from '#shared/features/payments/links/schemas.ts'
import { countAllLinks, findSweepLags } from '#shared/features/payments/metrics-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

export const paymentMetrics: Metrics<Executor> = {
  addGauges: (registry, query) => {
    addGauge(registry, 'kontor_payment_links', 'Payment links by status; 100,000 are counted at most', ['state'], async () => {
      const counts = await query((db) => db.query(countAllLinks()), 'payment links')
      const none = counts.length > 0 ? linkStatuses.map((status) => ({ status, count: 0 })) : []
      return [...none, ...counts].map(({ status, count }) => ({ labels: { state: status }, value: count }))
    })
    const help = 'Seconds since the last sweep of the connection that has waited longest; connections are swept every five minutes'
    addGauge(registry, 'kontor_payment_sweep_lag_seconds', help, ['provider'], async () => {
      const lags = await query((db) => db.query(findSweepLags({ now: new Date() })), 'sweeps of payments')
      return lags.map(({ provider, seconds }) => ({ labels: { provider }, value: Math.max(0, seconds) }))
    })
  },
}
