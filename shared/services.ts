import type { PlatformScope, Principal, Services } from '#shared/core/scope/scope.ts'
import { createUseCounter } from '#shared/core/types/indexes/count-use.ts'
import { guards } from '#shared/features.ts'
import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { openBlobs } from '#shared/platform/blobs/open-blobs.ts'
import { Cache } from '#shared/platform/db/cache/cache.ts'
import { openDatabaseClock } from '#shared/platform/db/clock.ts'
import { Database, type Executor } from '#shared/platform/db/database.ts'
import { refuseSquashedMigrations } from '#shared/platform/db/migrate.ts'
import { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { createParts } from '#shared/platform/kernel/process/part.ts'

/** The options that differ between the API, a worker and a command. */
interface ProcessKind {
  /** The application name of its database connections. */
  readonly name: string
  readonly connections: number
  readonly statementTimeoutMs: number
  /** Whether its job queue runs pg-boss maintenance. */
  readonly supervise: boolean
  /** Wraps the byte store to measure it. */
  readonly watchStore?: (store: ByteStore) => ByteStore
  /** The clock; default is the database's time. */
  readonly now?: (() => Date) | undefined
}

/**
 * Opens the services of a process. `close` flushes pending writes and closes every connection. When one service fails to open, those opened
 * before it are closed.
 */
export async function openServices(
  config: Config,
  log: Logger,
  kind: ProcessKind,
): Promise<{ readonly services: Services & { readonly database: Database }; readonly close: () => Promise<void> }> {
  await using opened = new AsyncDisposableStack()
  const parts = createParts(log)
  for (const part of Object.values(parts)) opened.defer(() => part.close())
  const database = new Database(config.databaseUrl, {
    connections: kind.connections,
    processors: config.databaseProcessors,
    name: kind.name,
    statementTimeoutMs: kind.statementTimeoutMs,
    slow: { ms: config.slowStatementMs, log },
  })
  opened.defer(() => database.close())
  const cache = new Cache(config.databaseUrl, kind.name)
  opened.defer(() => cache.close())
  const jobQueue = new JobQueue(database, { supervise: kind.supervise })
  await jobQueue.open((error) => log.warn({ err: error }, 'queue'))
  opened.defer(() => jobQueue.close())
  await refuseSquashedMigrations(database)
  const blobs = await openBlobs(config, database, kind.watchStore)
  opened.defer(() => blobs.close())
  const clock = await openDatabaseClock(database, log)
  opened.defer(() => clock.close())
  const now = kind.now ?? clock.now
  const fieldUses = createUseCounter(database, now, log)
  opened.defer(() => fieldUses.flush())
  const all = opened.move()
  const services = { config, cache, jobQueue, blobs, log, parts, now, fieldUses, recordGuards: guards, database }
  return { services, close: () => all.disposeAsync() }
}

/** The scope of work outside any workspace. */
export const platformScope = <Db extends Executor>(
  { config, cache, jobQueue, blobs, log, parts, now, fieldUses, recordGuards }: Services,
  db: Db,
  principal: Principal | null,
  cause: Cause,
): PlatformScope & { readonly db: Db } => ({
  config,
  cache,
  jobQueue,
  blobs,
  log,
  parts,
  now,
  fieldUses,
  recordGuards,
  db,
  principal,
  cause,
})
