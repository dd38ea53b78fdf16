import { Counter } from 'prom-client'
import { countAllItems } from '#shared/features/queues/counts/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

/** Counters of claims and of expired claims in this process; `queueMetrics` hands them to the process's registry. */
export const claimCounter = new Counter({
  name: 'kontor_queue_claims_total',
  help: 'Items of work queues that were claimed',
  registers: [],
})

export const claimExpiryCounter = new Counter({
  name: 'kontor_queue_leases_expired_total',
  help: 'Claims of items that ran out, counted when the item is claimed again',
  registers: [],
})

export const queueMetrics: Metrics<Executor> = {
  counters: [claimCounter, claimExpiryCounter],
  addGauges: (registry, query) =>
    addGauge(registry, 'kontor_queue_items', 'Items in the work queues of all workspaces, by status', ['status'], async () => {
      const counts = await query((db) => db.query(countAllItems()), 'items of work queues')
      return counts.map(({ status, items }) => ({ labels: { status }, value: items }))
    }),
}
