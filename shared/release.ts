import { jobs } from '#shared/jobs.ts'
import { citusCoordinatorOption, Database } from '#shared/platform/db/database.ts'
import { migrate } from '#shared/platform/db/migrate.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'
import { installJobQueues } from '#shared/platform/jobs/job-queue.ts'

/** Brings a database to what this program needs: migrations, then the queues of every declared job. Safe to run from several processes at once. */
export async function release(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl)
  const database = new Database(databaseUrl, {
    connections: 2,
    name: 'kontor release',
    statementTimeoutMs: 300_000,
    settings: citusCoordinatorOption,
  })
  try {
    await installJobQueues(database, jobs, deadLetterQueue)
  } finally {
    await database.close()
  }
}
