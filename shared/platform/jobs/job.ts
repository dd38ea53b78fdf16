import type { Tx } from '#shared/platform/db/database.ts'
import type { WorkDeclaration } from '#shared/platform/kernel/background.ts'
import type { StoredCause } from '#shared/platform/kernel/cause.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** Kinds of worker processes, scaled independently: `bin/kontor worker --pools=functions,flows`. */
export const workerPools = ['functions', 'flows', 'data', 'mail', 'webhooks', 'schedule'] as const
export type WorkerPool = (typeof workerPools)[number]

/** Number of retries and the delay before the first one; delays double. */
export interface RetryPolicy {
  readonly limit: number
  readonly delaySeconds: number
}
export const retryPolicies = {
  /** For work whose caller waits for the result. The one retry covers a killed worker. */
  once: { limit: 1, delaySeconds: 1 },
  /** For work that may meet a transient failure. */
  transient: { limit: 4, delaySeconds: 2 },
  /** For mail: backoff over some hours, then a dead letter (docs/contract/messages.md#delivery). */
  patient: { limit: 9, delaySeconds: 15 },
} as const satisfies Record<string, RetryPolicy>

/**
 * Limits concurrent jobs per workspace, over all processes and all jobs with the same gate name. Other jobs wait in order and hold neither a
 * worker nor a connection. A job releases its slot when its operation completes, and the next one is admitted.
 */
export interface Gate {
  readonly name: string
  readonly perWorkspace: number
  /** Priority among waiting jobs: lower is admitted first. 0 is for work whose caller waits. */
  readonly priority: number
}

/** Records a cancellation with the rows that wait for a job, in its transaction. `now` is the database's time. */
interface Cancellation<Payload> {
  record(tx: Tx, payload: Payload, error: StoredProblem, now: Date): Promise<void>
}

export interface JobDefinition<Payload, Result> extends WorkDeclaration {
  /** Also the queue's name. Do not rename it while jobs exist: add a new job and drain the old one. */
  readonly name: string
  /** `kind` in the answer of `GET …/jobs/{jobId}`. */
  readonly kind: string
  readonly pool: WorkerPool
  /** Concurrent attempts per worker process; more only beside an owner that was alone (docs/decisions/job-fairness.md). */
  readonly concurrency: number
  /** Concurrent attempts of one workspace per worker process, so that other workspaces find free slots; default `concurrency`. */
  readonly slotsPerWorkspace?: number
  /** Limits concurrent jobs of one workspace over all processes; only for tracked jobs. */
  readonly gate?: Gate
  readonly retry: RetryPolicy
  /**
   * Set where work that has begun must not run again: a later attempt only fails the operation. When the worker is lost, `watchLostWorkers`
   * makes that attempt at once.
   */
  readonly once?: true
  readonly timeoutSeconds: number
  /**
   * `false` where an operator must not pause the kind: mails that people need to get in, and what completes operations whose processes died.
   * A pause of its pool leaves it out.
   */
  readonly pausable?: false
  /** Whether the job has an operation that callers can wait for and read. */
  readonly tracked: boolean
  /** Set where a tracked job is itself the cause of what its attempts change (`Cause.kind`), by the id of its operation. */
  readonly causes?: 'batch' | 'import' | 'recompute'
  readonly payload: Schema<Payload>
  /** The keys of the payload whose values operators see: ids and keys that name things. All others are shown as `[hidden]`. */
  readonly visible?: readonly string[]
  /**
   * What an operator's cancellation of an untracked job does besides, where other rows wait for the job. `refused` where the absence of the job
   * would break what repeats, or leave something half made, half deleted or half paid.
   */
  readonly cancel?: 'refused' | Cancellation<Payload>
  readonly result: Schema<Result>
}
// biome-ignore lint/suspicious/noExplicitAny: a list of jobs holds every payload and result type at once
export type AnyJob = JobDefinition<any, any>

type JobInput<Payload, Result> = Omit<JobDefinition<Payload, Result>, 'kind' | 'visible'> & {
  readonly kind?: string
  readonly visible?: readonly (keyof Payload & string)[]
}

/** Declares a job: the API enqueues it and workers have exactly one handler for it. `kind` defaults to the name. */
export const defineJob = <Payload, Result>(input: JobInput<Payload, Result>): JobDefinition<Payload, Result> =>
  Object.freeze({ kind: input.name, ...input })

/** A job's payload with its workspace and cause, as the queue stores it. */
export interface JobEnvelope {
  readonly workspaceId: string | null
  readonly cause: StoredCause
  readonly payload: unknown
  /** The id of the job's operation where it differs from the job's own: such a job resumes a parked operation. */
  readonly operationId?: string
}

/** The queue of jobs whose last attempt failed, which operators retry or discard. */
export const deadLetterQueue = 'dead-letters'
