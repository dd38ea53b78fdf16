import type { AnyJob, JobDefinition, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'

/** What is filed in the transaction that settles an operation, however it is settled. Whatever waits is a row, never a worker. */
export interface Continuation {
  readonly queue: string
  readonly envelope: JobEnvelope
  /** The parked operation that goes on with it, once nothing else that it waits for is open. */
  readonly operation?: string
}

/**
 * Goes on with this job once an operation has settled: `enqueue(db, runFunction, origin, payload, { continuation: continuation(…) })`. The job looks
 * at the operation, whose id its payload should hold, to learn what came of it; an error is a result like another. It is done at least once.
 */
export function createContinuation<Payload>(
  job: JobDefinition<Payload, unknown>,
  { workspaceId, cause }: { readonly workspaceId: string | null; readonly cause: Cause },
  payload: NoInfer<Payload>,
): Continuation {
  refuse(job)
  return { queue: job.name, envelope: { workspaceId, cause, payload: job.payload.parse(payload, 'payload') } }
}

/** The next attempt at a parked operation, whose job's envelope this was. */
export const createResumption = (job: AnyJob, operation: string, envelope: JobEnvelope): Continuation => ({
  queue: job.name,
  envelope: { ...envelope, operationId: operation },
  operation,
})

function refuse({ name, tracked, gate }: AnyJob): void {
  if (tracked || gate) throw new Error(`${name} is tracked or has a gate, so it cannot go on after another operation`)
}
