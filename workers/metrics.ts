import { collectDefaultMetrics, Registry } from 'prom-client'
import { metrics } from '#shared/features.ts'
import { registerStoreMetrics } from '#shared/platform/blobs/store-metrics.ts'
import { registerClockGauge } from '#shared/platform/db/clock.ts'
import type { Database, Executor } from '#shared/platform/db/database.ts'
import { registerConnectionGauges } from '#shared/platform/db/pool/connection-metrics.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { addGauge, type MetricQuery } from '#shared/platform/kernel/metrics.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { registerPartGauges } from '#shared/platform/kernel/process/part-metrics.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'

/** The metrics of a worker process, for `GET /metrics`. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
export const watchConnections = registerConnectionGauges(registry)
export const watchStore = registerStoreMetrics(registry)
export const watchParts = registerPartGauges(registry)
export const watchClock = registerClockGauge(registry)

/** The database whose rows this process counts. Only processes of the pool `schedule` do, so that other pools do not count twice. */
let counted: { readonly database: Database; readonly log: Logger } | undefined

/** Adds counts of rows of this database to the metrics until the returned function is called. */
export function watchInstallation(database: Database, log: Logger): () => void {
  counted = { database, log }
  return () => {
    counted = undefined
  }
}

const query: MetricQuery<Executor> = async (read, what) => {
  if (!counted) return []
  const { database, log } = counted
  try {
    return await read(database)
  } catch (error) {
    if (!countRefusal(error)) log.warn({ err: error }, `could not count ${what}`)
    return []
  }
}

for (const { counters = [], workerCounters = [], addGauges } of metrics) {
  for (const counter of [...counters, ...workerCounters]) registry.registerMetric(counter)
  addGauges?.(registry, query)
}

/** Function runners of this process. */
const runners = new Set<FunctionRunners>()

/** Adds the number of these runners to the metrics until the returned function is called. */
export function watchRunners(functions: FunctionRunners): () => void {
  runners.add(functions)
  return () => void runners.delete(functions)
}

const help = 'Processes of this worker that run functions, by whether they are busy or idle'
addGauge(registry, 'kontor_function_runners', help, ['state'], async () => {
  const counts = [...runners].map((functions) => functions.counts)
  return (['busy', 'idle'] as const).map((state) => ({ labels: { state }, value: counts.reduce((sum, count) => sum + count[state], 0) }))
})
