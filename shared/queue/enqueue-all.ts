import type { Executor } from '#shared/db/database.ts'
import type { JobDefinition, JobEnvelope } from '#shared/queue/job.ts'
import type { Origin, Queue } from '#shared/queue/queue.ts'

/** A job to be filed under an id of the caller's choice. */
export interface Filing<Payload> {
  readonly id: string
  readonly origin: Origin
  readonly payload: Payload
  /** Of waiting jobs those of a higher one go first; 0 unless it is said. */
  readonly priority?: number
}

/**
 * Files many untracked jobs in one statement. One whose id the queue has already, waiting, running or done within the hour, is left as it
 * is, so filing again makes none twice.
 */
export async function enqueueAll<Payload>(
  { boss, signals }: Queue,
  db: Executor,
  job: JobDefinition<Payload, unknown>,
  filings: readonly Filing<Payload>[],
): Promise<void> {
  if (job.tracked) throw new Error(`${job.name} is tracked: enqueue it`)
  const jobs = filings.map(({ id, origin: { workspaceId, cause }, payload, priority }) => {
    const data: JobEnvelope = { workspaceId, cause, payload: job.payload.parse(payload, 'payload') }
    return { id, data, ...(workspaceId === null ? {} : { group: { id: workspaceId } }), ...(priority ? { priority } : {}) }
  })
  await boss.insert(job.name, jobs, {
    db: { executeSql: async (text, values) => ({ rows: await db.query({ text, values: values ?? [] }) }) },
  })
  db.afterCommit(() => signals.filled(job.name))
}
