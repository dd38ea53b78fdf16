import { Histogram } from 'prom-client'
import type { Executor } from '#shared/platform/db/database.ts'
import { readInboxDepth } from '#shared/platform/events/depth-store.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

/** Observed once for each event, when its number is committed. */
export const eventLagSeconds = new Histogram({
  name: 'kontor_event_lag_seconds',
  help: 'Time from an event until its number was committed',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 5, 60],
  registers: [],
})

type InboxDepth = Awaited<ReturnType<typeof readDepth>>[number]

const readDepth = (db: Executor) => db.query(readInboxDepth())

export const eventMetrics: Metrics<Executor> = {
  workerCounters: [eventLagSeconds],
  addGauges: (registry, query) => {
    // A scrape collects the gauges in the order of their registration, so the second gauge uses the row that the first one has read.
    let depth: Promise<readonly InboxDepth[]> = Promise.resolve([])
    addGauge(registry, 'kontor_event_inbox_rows', 'Events of all workspaces without a number, up to 10,000', [], async () => {
      depth = query(readDepth, 'events without a number')
      return (await depth).map(({ waiting }) => ({ labels: {}, value: waiting }))
    })
    addGauge(
      registry,
      'kontor_event_inbox_oldest_seconds',
      'Age of the oldest event without a number; 0 when there is none',
      [],
      async () => (await depth).map(({ oldestSeconds }) => ({ labels: {}, value: oldestSeconds })),
    )
  },
}
