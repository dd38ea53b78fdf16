import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import type { JobEnvelope } from '#shared/queue/job.ts'

/** A job that some worker has begun and not settled. */
export interface ActiveJob {
  readonly id: string
  readonly name: string
  readonly data: JobEnvelope
  readonly retryCount: number
  readonly retryLimit: number
  /** When its worker last said that it lives, as text that differs from time to time. */
  readonly beat: string
}

// From the gates, which hold what is let in and no more: pg-boss keeps what is done for an hour.
const find = sql(
  'find_active_jobs',
  `select job.id, job.name, job.data, job.retry_count as "retryCount", job.retry_limit as "retryLimit", job.heartbeat_on::text as beat
   from gated_jobs as gated
   join pgboss.job as job on job.name = gated.queue and job.id = gated.id and job.state = 'active'
   join operations as operation on operation.id = job.id and operation.status = 'running'
   where gated.slot is not null
   order by job.id`,
)
/** The jobs that have been let in at a gate and are being done. */
export const findActive = (db: Executor): Promise<ActiveJob[]> => db.query<ActiveJob>(find())
