import type { Executor } from '#shared/platform/db/database.ts'
import { enqueueAtGate } from '#shared/platform/jobs/gate.ts'
import type { JobDefinition, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobOrigin, JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { insertOperations } from '#shared/platform/jobs/operations/operations.ts'

/** A job to be filed under an id of the caller's choice. */
export interface JobToEnqueue<Payload> {
  readonly id: string
  readonly origin: JobOrigin
  readonly payload: Payload
}

/**
 * Files many jobs of one kind in one statement, and in another the operations of tracked ones. An untracked job whose id the queue has
 * already, waiting, running or done within the hour, is left as it is, so filing again makes none twice.
 */
export async function enqueueAll<Payload>(
  queue: JobQueue,
  db: Executor,
  job: JobDefinition<Payload, unknown>,
  filings: readonly JobToEnqueue<Payload>[],
): Promise<void> {
  const { name, kind, gate, tracked } = job
  const jobs = filings.map(({ id, origin: { workspaceId, cause }, payload }) => {
    const envelope: JobEnvelope = { workspaceId, cause, payload: job.payload.parse(payload, 'payload') }
    return { id, workspaceId, cause, envelope }
  })
  await db.transaction(async (tx) => {
    if (tracked) await tx.query(insertOperations(kind, name, jobs))
    if (gate) return enqueueAtGate(tx, gate, name, jobs)
    const rows = jobs.map(({ id, workspaceId, envelope }) => ({
      ...{ id, data: envelope },
      ...(workspaceId === null ? {} : { group: { id: workspaceId } }),
    }))
    await queue.boss.insert(name, rows, {
      db: { executeSql: async (text, values) => ({ rows: await tx.query({ text, values: values ?? [] }) }) },
    })
  })
  db.afterCommit(() => {
    if (!gate) return queue.signals.signalJobs(name)
    for (const workspaceId of new Set(jobs.map((one) => one.workspaceId))) void queue.admitNext(gate, workspaceId)
  })
}
