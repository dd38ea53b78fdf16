import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import type { JobOrigin } from '#shared/platform/jobs/job-queue.ts'
import type { Resources } from '#workers/resources.ts'

/** What a handler gives back: the result that the waiting caller is answered with, and the file that it made, if any. */
export interface JobResult<Result> {
  readonly result: Result
  readonly fileId?: string
}

/** One attempt at a job, as its handler sees it. `S` is the scope of a workspace, or the platform's for jobs of none. */
export interface Attempt<Payload, Result, S extends PlatformScope> {
  readonly payload: Payload
  readonly scope: S
  readonly jobId: string
  /** Aborts when the time is up, or when the worker stops and will wait no longer. */
  readonly signal: AbortSignal
  readonly resources: Resources
  /** Whether an earlier attempt had begun: for work that must not be done twice, and so is not done again. */
  readonly begun: boolean
  /** What an earlier attempt recorded with `advance`; undefined at the first. */
  readonly checkpoint: unknown
  /**
   * Records progress, and a checkpoint from which another attempt goes on; with a transaction's scope, once in it, they commit with its
   * writes. Throws when another attempt has gone on or settled the job: what this one has not committed must not stand.
   */
  readonly advance: (progress: { done: number; total: number }, checkpoint?: unknown, scope?: S) => Promise<void>
  /** Settles the job together with its last writes: both commit, or neither. Return what it returns. */
  readonly commit: (work: (scope: S) => Promise<JobResult<Result>>) => Promise<Completed>
  /**
   * Parks a tracked job without a gate until all that `work` starts has settled, whatever became of it: meanwhile it holds no slot, job or
   * transaction. What `work` writes and starts commits together with the checkpoint that it gives, from which another attempt goes on then;
   * that finds what came of the others by their ids (`findOperation`). Return what it returns.
   */
  readonly park: (work: (scope: S, start: StartJob) => Promise<unknown>) => Promise<Completed>
}

/** Starts another tracked job for which a parked one waits, and gives its operation's id. */
export type StartJob = <Payload>(job: JobDefinition<Payload, unknown>, origin: JobOrigin, payload: NoInfer<Payload>) => Promise<string>

/** Says that a handler has settled its job itself, through `commit`, or parked it. */
export const completed: unique symbol = Symbol('settled')
export type Completed = typeof completed

type Run<Payload, Result, S extends PlatformScope> = (
  attempt: Attempt<Payload, Result, S>,
) => Promise<JobResult<NoInfer<Result>> | Completed>

/** A job and the code that does it, in the scope of the job's workspace as the principal that caused it, or in the platform's. */
export type Handler<Payload, Result> =
  | { readonly job: JobDefinition<Payload, Result>; readonly inWorkspace: true; readonly run: Run<Payload, Result, Scope> }
  | { readonly job: JobDefinition<Payload, Result>; readonly inWorkspace: false; readonly run: Run<Payload, Result, PlatformScope> }
// biome-ignore lint/suspicious/noExplicitAny: a list of handlers holds every payload and result type at once
export type AnyHandler = Handler<any, any>

/** Joins a declared job of a workspace to the code that does it. Attempts happen at least once, so the code must be idempotent. */
export const defineHandler = <Payload, Result>(
  job: JobDefinition<Payload, Result>,
  run: Run<Payload, Result, Scope>,
): Handler<Payload, Result> => Object.freeze({ job, inWorkspace: true as const, run })

/** The same for a job of the platform itself, which stands in no workspace or in one that is not ready yet. */
export const definePlatformHandler = <Payload, Result>(
  job: JobDefinition<Payload, Result>,
  run: Run<Payload, Result, PlatformScope>,
): Handler<Payload, Result> => Object.freeze({ job, inWorkspace: false as const, run })
