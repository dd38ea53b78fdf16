import type { Executor } from '#shared/platform/db/database.ts'
import { enqueueAtGate } from '#shared/platform/jobs/gate.ts'
import type { JobDefinition, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobOrigin, JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { insertOperations } from '#shared/platform/jobs/operations/operations.ts'

/** A job to enqueue under an id that the caller chooses. */
interface JobToEnqueue<Payload> {
  readonly id: string
  readonly origin: JobOrigin
  readonly payload: Payload
}

/**
 * Enqueues many jobs of one kind in one statement; operations of a tracked job take a second one. An untracked job is skipped when the queue
 * already holds its id (waiting, running or completed within the hour), so a repeated call creates no duplicates.
 */
export async function enqueueAll<Payload>(
  queue: JobQueue,
  db: Executor,
  job: JobDefinition<Payload, unknown>,
  requests: readonly JobToEnqueue<Payload>[],
): Promise<void> {
  const { name, kind, gate, tracked } = job
  const jobs = requests.map(({ id, origin: { workspaceId, cause }, payload }) => {
    const envelope: JobEnvelope = { workspaceId, cause, payload: job.payload.parse(payload, 'payload') }
    return { id, workspaceId, cause, envelope }
  })
  await db.transaction(async (tx) => {
    if (tracked) await tx.query(insertOperations(kind, name, jobs))
    if (gate) return enqueueAtGate(tx, gate, name, jobs)
    const rows = jobs.map(({ id, workspaceId, envelope }) => ({
      id,
      data: envelope,
      ...(workspaceId === null ? {} : { group: { id: workspaceId } }),
    }))
    await queue.boss.insert(name, rows, {
      db: { executeSql: async (text, values) => ({ rows: await tx.query({ text, values: values ?? [] }) }) },
    })
  })
  db.afterCommit(() => {
    if (!gate) return queue.signals.signalJobs(name)
    for (const workspaceId of new Set(jobs.map((job) => job.workspaceId))) void queue.admitNext(gate, workspaceId)
  })
}
