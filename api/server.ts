import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RateLimits } from '#api/access/rate-limit.ts'
import { createApp } from '#api/app.ts'
import { streamWatcher } from '#api/core/events/metrics.ts'
import { FeedStreams } from '#api/core/events/streams/feed-streams.ts'
import { createGracefulClose } from '#api/http/graceful-close.ts'
import { registry, watchClock, watchConnections, watchParts, watchStore } from '#api/http/metrics.ts'
import { OpenStreams, type StreamTimes } from '#api/http/reply/open-streams.ts'
import { BodyMemory } from '#api/http/request/body-memory.ts'
import { answerMalformedRequests } from '#api/http/request/malformed.ts'
import type { ApiServices } from '#api/http/services.ts'
import { listen } from '#api/listen.ts'
import { serveMetrics } from '#api/metrics.ts'
import { eventFamilies, metrics } from '#shared/features.ts'
import { NotificationListener } from '#shared/platform/db/pool/notification-listener.ts'
import { announceProcess } from '#shared/platform/db/processes/announce-process.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { OperationWaiter } from '#shared/platform/jobs/operations/operation-waiter.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { AnswerAdmission } from '#shared/platform/kernel/process/answer-admission.ts'
import { openServices, platformScope } from '#shared/services.ts'

for (const { counters = [] } of metrics) for (const counter of counters) registry.registerMetric(counter)

export interface Api {
  readonly port: number
  /** The port of the metrics, where it is another one. */
  readonly metricsPort: number | undefined
  readonly services: ApiServices
  /** Accepts no new requests, gives running ones `graceMs` to end, then closes every connection. */
  readonly stop: (graceMs: number) => Promise<void>
}

/** The most bytes of large answers that a process reads and writes at a time. */
const maxAnswerBytes = 32_000_000

/** The end of a stop's grace that is left to answer requests whose workers have not ended. */
const lastAnswersMs = 5_000

/** Starts the API on the configured port. `time` replaces the database's clock. Tests shorten the times of streams. */
export async function startApi(config: Config, log: Logger, time?: () => Date, streamTimes?: StreamTimes): Promise<Api> {
  const {
    services: shared,
    clock,
    close: closeServices,
  } = await openServices(config, log, {
    name: 'kontor api',
    connections: config.databaseConnections,
    waitsForDatabase: true,
    statementTimeoutMs: 15_000,
    supervise: false,
    waitsForRestored: true,
    key: 'held',
    watchStore,
    now: time,
  })
  const { database } = shared
  const announced = await announceProcess(database, { kind: 'api', pools: [], release: config.release }, () => [], log)
  const { pauses } = shared.jobQueue
  const waiter = new OperationWaiter(database, pauses)
  await pauses.open(log)
  const feedStreams = new FeedStreams(shared, eventFamilies)
  const listener = new NotificationListener(config.databaseUrl, 'kontor api', {
    [signalChannels.completed]: { receive: (ids) => waiter.receive(ids), missed: () => waiter.recheckAll() },
    [signalChannels.numbered]: { receive: (ids) => feedStreams.wake(ids.split(' ')), missed: () => feedStreams.wakeAll() },
    [signalChannels.paused]: { receive: () => pauses.refresh(), missed: () => pauses.refresh() },
  })
  await listener.open()
  const watches = [
    watchConnections({ database, cache: shared.cache, listener }),
    watchParts(shared.parts, () => shared.blobs.check()),
    watchClock(clock),
  ]
  const services: ApiServices = {
    ...shared,
    waiter,
    rateLimits: new RateLimits(database, config),
    answers: new AnswerAdmission(maxAnswerBytes),
    bodies: new BodyMemory(),
    streams: new OpenStreams(platformScope(shared, database, null, platformCause('streams')), streamWatcher, streamTimes),
    feedStreams,
  }
  const { ServerResponse, close } = createGracefulClose()
  const server = createServer(
    {
      ServerResponse,
      headersTimeout: 10_000,
      // Interval of the check for late headers. Node's default of 30 s would stretch the timeout of 10 s to 40 s.
      connectionsCheckingInterval: 5_000,
      requestTimeout: 300_000,
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
    },
    createApp(services).callback(),
  )
  answerMalformedRequests(server)
  await listen(server, config.port, config.host)
  const metrics = config.metricsPort === null ? undefined : await serveMetrics(config, config.metricsPort)
  return {
    port: (server.address() as AddressInfo).port,
    metricsPort: metrics?.port,
    services,
    stop: async (graceMs) => {
      services.streams.closeAll()
      // Requests that wait for a worker are answered before the grace ends.
      const releaseTimer = setTimeout(() => waiter.releaseAll(), graceMs - Math.min(lastAnswersMs, graceMs / 2))
      await close(server, graceMs)
      clearTimeout(releaseTimer)
      await feedStreams.finished()
      for (const stopWatching of watches) stopWatching()
      metrics?.close()
      await announced.close()
      await listener.close()
      await closeServices()
    },
  }
}
