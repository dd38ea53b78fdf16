import type { AnyJob, JobDefinition, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'

/**
 * A job that is enqueued in the transaction that completes an operation, done or failed. Until then it is stored with that operation and
 * occupies no worker.
 */
export interface Continuation {
  readonly queue: string
  readonly envelope: JobEnvelope
  /** The parked operation that this job resumes, once every other operation that it awaits is complete. */
  readonly operation?: string
}

/**
 * A continuation that runs `job` after an operation completes, done or failed:
 * `enqueue(db, runFunctionJob, origin, payload, { continuation: createContinuation(…) })`. The payload should hold the operation's id, by
 * which the job reads the outcome. It runs at least once. Throws for a job that is tracked or has a gate.
 */
export function createContinuation<Payload>(
  job: JobDefinition<Payload, unknown>,
  { workspaceId, cause }: { readonly workspaceId: string | null; readonly cause: Cause },
  payload: NoInfer<Payload>,
): Continuation {
  requireUntracked(job)
  return { queue: job.name, envelope: { workspaceId, cause, payload: job.payload.parse(payload, 'payload') } }
}

/** The continuation that resumes a parked operation with its job's envelope. */
export const createResumption = (job: AnyJob, operation: string, envelope: JobEnvelope): Continuation => ({
  queue: job.name,
  envelope: { ...envelope, operationId: operation },
  operation,
})

function requireUntracked({ name, tracked, gate }: AnyJob): void {
  if (tracked || gate) throw new Error(`${name} is tracked or has a gate, so it cannot be a continuation`)
}
