import type { WorkDeclaration } from '#shared/platform/kernel/background.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** A pool is a kind of worker process, scaled by itself: `node workers/main.ts --pools=functions,flows`. */
export const workerPools = ['functions', 'flows', 'data', 'mail', 'schedule'] as const
export type WorkerPool = (typeof workerPools)[number]

/** How often a failed attempt is tried again, and how long the first wait is; waits double. */
export interface RetryPolicy {
  readonly limit: number
  readonly delaySeconds: number
}
export const retryPolicies = {
  /** For work whose failure the caller hears of at once; a killed worker's job is still done again elsewhere. */
  once: { limit: 1, delaySeconds: 1 },
  /** For work that may meet a passing fault. */
  transient: { limit: 4, delaySeconds: 2 },
  /** For mail: growing delay over some hours, then kept as failed (decisions, Forms, website content, messages). */
  patient: { limit: 9, delaySeconds: 15 },
} as const satisfies Record<string, RetryPolicy>

/**
 * What keeps jobs to exactly so many at a time in each workspace, over all processes and all jobs of the same name of gate. The others wait
 * in order and hold neither a worker nor a connection; a job leaves when its operation is settled, and that lets the next one in.
 */
export interface Gate {
  readonly name: string
  readonly perWorkspace: number
  /** Of waiting jobs those of a lower lane go first; 0 is for what somebody waits for. */
  readonly lane: number
}

export interface JobDefinition<Payload, Result> extends WorkDeclaration {
  /** Also the queue's name. Never renamed while jobs of it exist: add a new job and drain the old one. */
  readonly name: string
  /** What `GET …/jobs/{jobId}` shows as `kind`. */
  readonly kind: string
  readonly pool: WorkerPool
  /** Attempts of this job that one worker process runs at once. */
  readonly concurrency: number
  /** Attempts of one workspace that one worker process runs at once, so that another workspace finds a free slot; as many as `concurrency` without it. */
  readonly slotsPerWorkspace?: number
  /** Exactly so many of one workspace at once, over all processes and together with other jobs of the gate; for tracked jobs. */
  readonly gate?: Gate
  readonly retry: RetryPolicy
  /** What has begun is not done again: an attempt after it only says so, which whoever finds that its worker is gone does at once. */
  readonly once?: true
  readonly timeoutSeconds: number
  /** Whether an operation is kept that callers can wait for and look up. Work that nobody asks after has none. */
  readonly tracked: boolean
  readonly payload: Schema<Payload>
  readonly result: Schema<Result>
}
// biome-ignore lint/suspicious/noExplicitAny: a list of jobs holds every payload and result type at once
export type AnyJob = JobDefinition<any, any>

/** Declares a job once; the API enqueues by it and workers must handle it exactly once. */
export const defineJob = <Payload, Result>(definition: JobDefinition<Payload, Result>): JobDefinition<Payload, Result> =>
  Object.freeze(definition)

/** What travels with every job besides its payload. */
export interface JobEnvelope {
  readonly workspaceId: string | null
  readonly cause: Cause
  readonly payload: unknown
  /** The operation that the job works on, where that is not the one of its own id: it was parked and goes on. */
  readonly operationId?: string
}

/** The queue that keeps jobs whose last attempt failed, for `kontor jobs list|retry`. */
export const deadLetterQueue = 'dead-letters'
