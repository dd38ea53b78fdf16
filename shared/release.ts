import { jobs } from '#shared/features.ts'
import { Database } from '#shared/platform/db/database.ts'
import { migrate } from '#shared/platform/db/migrate.ts'
import { citusCoordinatorSettings } from '#shared/platform/db/pool/session-settings.ts'
import { deadLetterQueue, workerPools } from '#shared/platform/jobs/job.ts'
import { pausableKinds } from '#shared/platform/jobs/pauses/pause.ts'
import { setPausedKinds } from '#shared/platform/jobs/pauses/store.ts'
import { installJobQueues } from '#shared/platform/jobs/pgboss/install-queues.ts'

/** Runs migrations and creates the queues of all declared jobs. Several processes may run it at once. */
export const release = (databaseUrl: string): ReturnType<typeof migrate> => migrate(databaseUrl, () => installQueues(databaseUrl))

async function installQueues(databaseUrl: string): Promise<void> {
  const database = new Database(databaseUrl, {
    connections: 2,
    name: 'kontor release',
    statementTimeoutMs: 300_000,
    settings: citusCoordinatorSettings,
  })
  try {
    await installJobQueues(database, jobs, deadLetterQueue)
    await setPausedKinds(database, Object.fromEntries(workerPools.map((pool) => [pool, pausableKinds(jobs, pool)])))
  } finally {
    await database.close()
  }
}
