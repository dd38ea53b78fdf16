import { sdkMethods } from '#shared/features.ts'
import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { NotificationListener } from '#shared/platform/db/pool/notification-listener.ts'
import { announceProcess } from '#shared/platform/db/processes/announce-process.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import type { Parts } from '#shared/platform/kernel/process/part.ts'
import { openServices } from '#shared/services.ts'
import { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import { confinement, reportConfinement } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { createHandlers } from '#workers/handlers.ts'
import { watchLostWorkers } from '#workers/lost-workers.ts'
import {
  watchClock,
  watchConfinement,
  watchConnections,
  watchInstallation,
  watchParts,
  watchRunners,
  watchStore,
} from '#workers/metrics.ts'
import { Pools } from '#workers/pools.ts'

export interface Worker {
  readonly database: Database
  readonly pools: Pools
  /** Its id among the processes of the installation. */
  readonly processId: string
  readonly jobQueue: JobQueue
  readonly blobs: Blobs
  readonly cache: Cache
  readonly parts: Parts
  /** Stops taking work, waits up to `graceMs` for running jobs, returns the rest to the queue, and closes every connection. */
  readonly stop: (graceMs: number) => Promise<void>
}

/**
 * Starts the chosen pools and their services. `time` defaults to the database's clock. Throws a start refusal for a wrong SECRET_KEY, and where
 * functions lack a confinement that is required.
 */
export async function startWorker(config: Config, chosen: readonly WorkerPool[], log: Logger, time?: () => Date): Promise<Worker> {
  const runsFunctions = chosen.includes('functions')
  if (runsFunctions) reportConfinement(config.functionsConfinement, confinement(), log)
  // PostgreSQL cuts names after 63 bytes, and the name of the key follows: all pools by their names would be too long.
  const name = `kontor worker ${chosen.length === workerPools.length ? 'all' : chosen.join(',')}`
  const {
    services: shared,
    clock,
    close: closeServices,
  } = await openServices(config, log, {
    name,
    connections: config.databaseConnections,
    waitsForDatabase: true,
    statementTimeoutMs: 120_000,
    supervise: true,
    waitsForRestored: true,
    key: 'held',
    watchStore,
    now: time,
  })
  const { database, ...common } = shared
  const services = { ...common, db: database }
  const runners = new FunctionRunners(log, sdkMethods)
  const handlers = createHandlers(runners)
  const own = handlers.filter(({ job }) => chosen.includes(job.pool))
  const pools = new Pools(chosen, own, services)
  const listener = new NotificationListener(config.databaseUrl, name, {
    [signalChannels.filled]: { receive: (queues) => pools.receive(queues), missed: () => pools.pollAll() },
    [signalChannels.paused]: { receive: () => common.jobQueue.pauses.refresh(), missed: () => common.jobQueue.pauses.refresh() },
  })
  await common.jobQueue.pauses.open(log)
  await listener.open()
  pools.start()
  const announced = await announceProcess(database, { kind: 'worker', pools: chosen, release: config.release }, () => pools.running, log)
  const watches = [
    watchConnections({ database, cache: common.cache, listener }),
    watchParts(common.parts, () => common.blobs.check()),
    watchClock(clock),
    watchRunners(runners),
    watchLostWorkers(own, services),
  ]
  if (runsFunctions) watches.push(watchConfinement(confinement()))
  if (chosen.includes('schedule')) watches.push(watchInstallation(database, announced.id, log))
  return {
    database,
    pools,
    processId: announced.id,
    jobQueue: common.jobQueue,
    blobs: common.blobs,
    cache: common.cache,
    parts: common.parts,
    stop: async (graceMs) => {
      for (const stopWatching of watches) stopWatching()
      await listener.close()
      await pools.stop(graceMs)
      await runners.close()
      await announced.close()
      await closeServices()
    },
  }
}
