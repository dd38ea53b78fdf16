import { collectDefaultMetrics, Registry } from 'prom-client'
import { metrics } from '#shared/features.ts'
import { registerStoreMetrics } from '#shared/platform/blobs/store-metrics.ts'
import { registerClockGauge } from '#shared/platform/db/clock.ts'
import type { Database, Executor } from '#shared/platform/db/database.ts'
import { registerConnectionGauges } from '#shared/platform/db/pool/connection-metrics.ts'
import { isReporter } from '#shared/platform/db/processes/store.ts'
import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { addGauge, type MetricQuery } from '#shared/platform/kernel/metrics.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { registerPartGauges } from '#shared/platform/kernel/process/part-metrics.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import type { Confinement } from '#workers/features/functions/sandbox/runner/confinement.ts'

/** The metrics of a worker process, for `GET /metrics`. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry })
export const watchConnections = registerConnectionGauges(registry)
export const watchStore = registerStoreMetrics(registry)
export const watchParts = registerPartGauges(registry)
export const watchClock = registerClockGauge(registry)

/** The pool of which one process counts the rows of the installation, so that a sum over processes counts each row once. */
const countingPool: WorkerPool = 'schedule'

/** The database whose rows this process counts while it is the reporter. */
let counted: { readonly database: Database; readonly processId: string; readonly log: Logger } | undefined

/** Adds counts of rows of this database to the metrics, while this process is the reporter, until the returned function is called. */
export function watchInstallation(database: Database, processId: string, log: Logger): () => void {
  counted = { database, processId, log }
  return () => {
    if (counted?.processId === processId) counted = undefined
  }
}

const query: MetricQuery<Executor> = async (read, what) => {
  if (!counted) return []
  const { database, processId, log } = counted
  try {
    return (await isReporter(database, processId, countingPool)) ? await read(database) : []
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

/** The confinement of functions, in processes that run them. */
let confinement: Confinement | undefined

/** Adds the confinements to the metrics until the returned function is called. */
export function watchConfinement(found: Confinement): () => void {
  confinement = found
  return () => {
    confinement = undefined
  }
}

const confinementHelp = 'Whether a confinement of function runners holds in this worker, 1 or 0'
addGauge(registry, 'kontor_function_confinement', confinementHelp, ['confinement'], async () =>
  Object.entries(confinement?.holds ?? {}).map(([name, holds]) => ({ labels: { confinement: name }, value: holds ? 1 : 0 })),
)
