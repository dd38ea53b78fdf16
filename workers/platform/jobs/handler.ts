import type { AnyJob, JobDefinition } from '#shared/platform/jobs/job.ts'
import type { JobOrigin } from '#shared/platform/jobs/job-queue.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'

/** A handler's result for the waiting caller, and the id of the file that it created, if any. */
export interface JobResult<Result> {
  readonly result: Result
  readonly fileId?: string
}

/** One attempt at a job, for its handler. `S` is the scope of a workspace, or of the platform for jobs without one. */
export interface Attempt<Payload, Result, S extends JobScope> {
  readonly payload: Payload
  readonly scope: S
  readonly jobId: string
  /** Aborts at the time limit, or at the end of the worker's grace period. */
  readonly signal: AbortSignal
  /** Whether an earlier attempt had begun. Work that must not run twice checks it. */
  readonly begun: boolean
  /** Whether a failure of a part that is away is no attempt, so that the job waits; false once it has waited for a day. */
  readonly mayWait: boolean
  /** The checkpoint that an earlier attempt recorded with `advance`; undefined in the first attempt. */
  readonly checkpoint: unknown
  /**
   * Records progress, and a checkpoint from which another attempt continues. Given the scope of a transaction, both commit with the writes
   * of the transaction; call it once in each. Throws when another attempt has taken over or completed the job, so that uncommitted writes
   * are rolled back.
   */
  readonly advance: (progress: { done: number; total: number }, checkpoint?: unknown, scope?: S) => Promise<void>
  /** Completes the job in one transaction with its last writes. The handler must return the result. */
  readonly commit: (work: (scope: S) => Promise<JobResult<Result>>) => Promise<Completed>
  /**
   * Parks a tracked job without a gate until all jobs that `work` starts are complete, done or failed; meanwhile it holds no slot, job or
   * transaction. The writes and jobs of `work` commit together with the checkpoint that it returns. The next attempt continues from there and
   * reads the outcomes by operation id (`findOperation`). The handler must return the result.
   */
  readonly park: (work: (scope: S, start: StartJob) => Promise<unknown>) => Promise<Completed>
}

/** Starts a tracked job that the parked one awaits; returns its operation's id. */
export type StartJob = <Payload>(job: JobDefinition<Payload, unknown>, origin: JobOrigin, payload: NoInfer<Payload>) => Promise<string>

/** A failure that its handler has logged: the job is retried without another line. */
export class LoggedFailure extends Error {}

/** The reason of an abort when an operator has cancelled the job: nothing is left to complete or to retry. */
export class AttemptCancelled extends Error {}

/** The result of a handler that completed its job by `commit` or parked it. */
export const completed: unique symbol = Symbol('completed')
export type Completed = typeof completed

export type Run<Payload, Result, S extends JobScope> = (
  attempt: Attempt<Payload, Result, S>,
) => Promise<JobResult<NoInfer<Result>> | Completed>

/** A job and its code. It runs at least once, so it must be idempotent. */
export interface Handler<Payload, Result, S extends JobScope> {
  readonly job: JobDefinition<Payload, Result>
  /** Whether the scope is the workspace's, entered as the principal that caused the job; otherwise the platform's. */
  readonly inWorkspace: boolean
  readonly run: Run<Payload, Result, S>
}
// biome-ignore lint/suspicious/noExplicitAny: a list of handlers holds every payload, result and scope at once
export type AnyHandler = Handler<any, any, any>

/** The handlers of a folder's jobs, by their names in its `feature.ts`. */
export type HandlersOf<Jobs extends Readonly<Record<string, AnyJob>>> = {
  // biome-ignore lint/suspicious/noExplicitAny: each handler has its own scope
  readonly [Name in keyof Jobs]: Jobs[Name] extends JobDefinition<infer Payload, infer Result> ? Handler<Payload, Result, any> : never
}

/** Defines the handler of a job that runs as the platform. Handlers above this floor use `definePlatformHandler`, which fixes the scope's type. */
export const defineJobHandler = <Payload, Result, S extends JobScope = JobScope>(
  job: JobDefinition<Payload, Result>,
  run: Run<Payload, Result, S>,
): Handler<Payload, Result, S> => Object.freeze({ job, inWorkspace: false, run })
