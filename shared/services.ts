import type { PlatformScope, Principal, Services } from '#shared/core/scope/scope.ts'
import { createUseCounter } from '#shared/core/types/indexes/count-use.ts'
import { eventFamilies, guards, sealedColumns } from '#shared/features.ts'
import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { openBlobs } from '#shared/platform/blobs/open-blobs.ts'
import { type DatabaseClock, openDatabaseClock } from '#shared/platform/db/clock.ts'
import type { Database, Executor } from '#shared/platform/db/database.ts'
import { requireMigrations } from '#shared/platform/db/migrate.ts'
import { openDatabase } from '#shared/platform/db/open-database.ts'
import { isHeld, waitUntilRestored, warnWhileHeld } from '#shared/platform/db/restored/restored-copy.ts'
import { openEgress } from '#shared/platform/egress/egress.ts'
import { openFigureWriter } from '#shared/platform/jobs/figures/figure-writer.ts'
import { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal, createParts } from '#shared/platform/kernel/process/part.ts'
import { refuseOtherKey, requireSecretKey, sessionName } from '#shared/platform/secrets/secret-key.ts'

/** The options that differ between the API, a worker and a command. */
export interface ProcessKind {
  /** The application name of its database connections. */
  readonly name: string
  /** All lasting connections: those of the pool, one of the cache, and one that listens for signals. */
  readonly connections: number
  /** Whether the start waits while the database is away; otherwise it fails. */
  readonly waitsForDatabase: boolean
  readonly statementTimeoutMs: number
  /** Whether its job queue runs pg-boss maintenance. */
  readonly supervise: boolean
  /** Whether it waits for `kontor restored` where KONTOR_RESTORED is set; commands do not. */
  readonly waitsForRestored: boolean
  /** `held`: it seals secrets, so it must have the key of the installation. `checked`: its key must not be another one. */
  readonly key: 'held' | 'checked' | 'unchecked'
  /** Wraps the byte store to measure it. */
  readonly watchStore?: (store: ByteStore) => ByteStore
  /** The clock; default is the database's time. */
  readonly now?: (() => Date) | undefined
}

/** The connection of the cache, and the one that listens for signals. */
const connectionsBesidePool = 2

/**
 * Opens the services of a process. `close` flushes pending writes and closes every connection. When one service fails to open, those opened
 * before it are closed. Throws a start refusal for a wrong SECRET_KEY.
 */
export async function openServices(
  config: Config,
  log: Logger,
  kind: ProcessKind,
): Promise<{
  readonly services: Services & { readonly database: Database }
  readonly clock: DatabaseClock
  readonly close: () => Promise<void>
}> {
  await using opened = new AsyncDisposableStack()
  const parts = createParts(log)
  for (const part of Object.values(parts)) opened.defer(() => part.close())
  const options = {
    connections: kind.connections - connectionsBesidePool,
    processors: config.databaseProcessors,
    name: kind.key === 'held' ? sessionName(kind.name, config) : kind.name,
    statementTimeoutMs: kind.statementTimeoutMs,
    slow: { ms: config.slowStatementMs, log },
    part: parts.database,
  }
  const { database, cache, close } = await openDatabase(config.databaseUrl, options, kind.waitsForDatabase)
  opened.defer(close)
  if (kind.waitsForRestored) await waitUntilRestored(database, config, log)
  await requireMigrations(database)
  const jobQueue = new JobQueue(database, { supervise: kind.supervise })
  await jobQueue.open((error) => countRefusal(error) || log.warn({ err: error }, 'queue'))
  opened.defer(() => jobQueue.close())
  if (kind.waitsForRestored) await warnWhileHeld(database, log)
  if (kind.key === 'held') await requireSecretKey(database, config, sealedColumns)
  if (kind.key === 'checked') await refuseOtherKey(database, config)
  const blobs = await openBlobs(config, database, parts.fileStore, kind.watchStore)
  opened.defer(() => blobs.close())
  const clock = await openDatabaseClock(database, log)
  opened.defer(() => clock.close())
  const now = kind.now ?? clock.now
  const fieldUses = createUseCounter(database, now, log)
  opened.defer(() => fieldUses.flush())
  const figures = openFigureWriter(database, now, log)
  opened.defer(() => figures.close())
  const all = opened.move()
  const egress = openEgress(config, () => isHeld(database))
  const services = { config, cache, jobQueue, blobs, egress, log, parts, now, fieldUses, recordGuards: guards, eventFamilies, database }
  return { services, clock, close: () => all.disposeAsync() }
}

/** The scope of work outside any workspace. */
export const platformScope = <Db extends Executor>(
  { config, cache, jobQueue, blobs, egress, log, parts, now, fieldUses, recordGuards, eventFamilies }: Services,
  db: Db,
  principal: Principal | null,
  cause: Cause,
): PlatformScope & { readonly db: Db } => ({
  config,
  cache,
  jobQueue,
  blobs,
  egress,
  log,
  parts,
  now,
  fieldUses,
  recordGuards,
  eventFamilies,
  db,
  principal,
  cause,
})
