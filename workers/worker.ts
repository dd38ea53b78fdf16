import type { Blobs } from '#shared/blobs/blobs.ts'
import { openBlobs } from '#shared/blobs/open.ts'
import { Cache } from '#shared/db/cache.ts'
import { openClock } from '#shared/db/clock.ts'
import { Database } from '#shared/db/database.ts'
import { Listener } from '#shared/db/listener.ts'
import { guards } from '#shared/guards.ts'
import type { Config } from '#shared/kernel/config.ts'
import type { Logger } from '#shared/kernel/log.ts'
import type { Pool } from '#shared/queue/job.ts'
import { Queue } from '#shared/queue/queue.ts'
import { channels } from '#shared/queue/signals.ts'
import { countUses } from '#shared/types/indexes/count-uses.ts'
import { watchConnections, watchQueues, watchRunners, watchStore } from '#workers/metrics.ts'
import { Pools } from '#workers/pools.ts'
import { openResources } from '#workers/resources.ts'
import { watchForLost } from '#workers/takeover.ts'

export interface Worker {
  readonly database: Database
  readonly pools: Pools
  readonly queue: Queue
  readonly blobs: Blobs
  /** Takes no more work, ends what runs within `graceMs`, hands the rest back, and lets go of every connection. */
  readonly stop: (graceMs: number) => Promise<void>
}

/** Starts some pools with all that they need; the time is the database's unless it is given. */
export async function startWorker(config: Config, chosen: readonly Pool[], log: Logger, time?: () => Date): Promise<Worker> {
  const name = `kontor worker ${chosen.join(',')}`
  const database = new Database(config.databaseUrl, {
    connections: config.databaseConnections,
    name,
    statementTimeoutMs: 120_000,
    slow: { ms: config.slowStatementMs, log },
  })
  const cache = new Cache(config.databaseUrl, name)
  const queue = new Queue(database, { supervise: true })
  await queue.open((error) => log.warn({ err: error }, 'queue'))
  const blobs = await openBlobs(config, database, watchStore)
  const clock = await openClock(database, log)
  const now = time ?? clock.now
  const resources = openResources(log)
  const uses = countUses(database, now, log)
  const services = { config, cache, queue, blobs, log, now, uses, guards, db: database, resources }
  const pools = new Pools(chosen, services)
  const listener = new Listener(config.databaseUrl, name, {
    [channels.filled]: { heard: (queues) => pools.heard(queues), missed: () => pools.missed() },
  })
  await listener.open()
  pools.start()
  const watches = [clock.close, watchConnections(database), watchRunners(resources.functions), watchForLost(services, chosen)]
  if (chosen.includes('schedule')) watches.push(watchQueues(database, log))
  return {
    database,
    pools,
    queue,
    blobs,
    stop: async (graceMs) => {
      for (const stopWatching of watches) stopWatching()
      await listener.close()
      await pools.stop(graceMs)
      await resources.close()
      await uses.flush()
      await queue.close()
      blobs.close()
      await cache.close()
      await database.close()
    },
  }
}
