import { Counter } from 'prom-client'
import { countWebhooks, findOldestWaiting } from '#shared/features/webhooks/metrics-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

/** Tries of deliveries, by how they ended: `taken`, `failed`, or `gone` where the receiver wants no more. */
export const webhookTries = new Counter({
  name: 'kontor_webhook_tries_total',
  help: 'Tries of deliveries of webhooks, by outcome: taken, failed or gone',
  labelNames: ['outcome'],
  registers: [],
})

export const webhookMetrics: Metrics<Executor> = {
  workerCounters: [webhookTries],
  addGauges: (registry, query) => {
    addGauge(registry, 'kontor_webhooks', 'Webhooks of all workspaces by status', ['status'], async () => {
      const counts = await query((db) => db.query(countWebhooks()), 'webhooks')
      return counts.map(({ status, count }) => ({ labels: { status }, value: count }))
    })
    const help = 'Seconds since the first try of a delivery was due that has not begun, of the one that waits longest; 0 where none waits'
    addGauge(registry, 'kontor_webhook_oldest_waiting_seconds', help, [], async () => {
      const rows = await query((db) => db.query(findOldestWaiting({ now: new Date() })), 'deliveries of webhooks')
      return rows.map(({ seconds }) => ({ labels: {}, value: Math.max(0, seconds) }))
    })
  },
}
