import type { JobWithMetadata } from 'pg-boss'
import type { Executor } from '#shared/platform/db/database.ts'
import { isDatabaseFull, isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import type { AnyJob, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { jobAttemptSeconds } from '#shared/platform/jobs/metrics.ts'
import { returnJobToQueue } from '#shared/platform/jobs/monitoring/active-jobs.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { currentRequestId } from '#shared/platform/kernel/process/current-request.ts'
import { trackCall } from '#shared/platform/kernel/process/thread-share.ts'
import { freeSlots } from '#workers/platform/jobs/free-slots.ts'
import { recordWaitTime } from '#workers/platform/jobs/wait-time.ts'

/** Interval of heartbeats, well below the 10 s after which pg-boss gives a job without heartbeats to another worker. */
const heartbeatMs = 2_000
/** The time that aborted attempts have to finish. */
const abortGraceMs = 1_000

/** A running attempt: its workspace, its end and its abort signal. */
interface Attempt {
  readonly workspaceId: string | null
  readonly ended: Promise<void>
  readonly halt: AbortController
}

interface LoopServices {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly log: Logger
}

/** Runs an attempt at a fetched job. `deferred` when the job has left its queue; throws when the queue should retry it. */
type RunAttempt = (row: JobWithMetadata<JobEnvelope>, signal: AbortSignal) => Promise<'ended' | 'deferred'>

/**
 * Fetches one queue's jobs while slots are free. pg-boss's own `work` fetches one job per wake-up at batch size 1 (40 sent, 4 answered in
 * 20 s), so this loop fetches as many as it has free slots, repeatedly until none are left.
 */
export class JobLoop {
  readonly #job: AnyJob
  readonly #runAttempt: RunAttempt
  readonly #services: LoopServices
  readonly #running = new Map<string, Attempt>()
  readonly #completed: string[] = []
  readonly #stop = new AbortController()
  #heartbeatTimer: NodeJS.Timeout | undefined
  #fetching: Promise<void> | undefined
  #again = false
  /** Workspaces that the last fetch left out as full, if it found no more jobs of others. Undefined when any workspace may have jobs. */
  #waiting: readonly string[] | undefined
  /** Whether a signal arrived since the last fetch was sent. */
  #woken = false
  #completing: Promise<void> | undefined

  constructor(job: AnyJob, runAttempt: RunAttempt, services: LoopServices) {
    this.#job = job
    this.#runAttempt = runAttempt
    this.#services = services
  }

  start(): void {
    this.#heartbeatTimer = setInterval(() => void this.#sendHeartbeat(), heartbeatMs)
  }

  /** Fetches jobs now; called when a signal or a poll names the queue. */
  wake(): void {
    this.#waiting = undefined
    this.#woken = true
    this.#fillSlots()
  }

  /** Fills the free slots with waiting jobs. */
  #fillSlots(): void {
    if (this.#stop.signal.aborted) return
    if (this.#fetching) {
      this.#again = true
      return
    }
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined
      if (this.#again) this.#fillSlots()
    })
  }

  /** The name of its queue. */
  get queue(): string {
    return this.#job.name
  }

  /** Whether a signal names this loop's queue or its gate. */
  handlesSignal(name: string): boolean {
    const job = this.#job
    return name === job.name || name === job.gate?.name
  }

  /** Whether nothing is running, being fetched or being completed. */
  get idle(): boolean {
    return this.#running.size === 0 && !this.#fetching && !this.#completing
  }

  /** Stops fetching, waits up to `graceMs` for running attempts, then aborts them and returns their jobs to the queue. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort()
    await this.#fetching
    await this.#waitForAttempts(graceMs)
    for (const { halt } of this.#running.values()) halt.abort()
    await this.#waitForAttempts(abortGraceMs)
    const { name } = this.#job
    for (const id of this.#running.keys())
      await this.#services.jobQueue.boss.fail(name, id, { message: 'the worker stopped' }).catch(() => undefined)
    await this.#completing
    await this.#complete()
    clearInterval(this.#heartbeatTimer)
  }

  /** Waits at most `ms` for running attempts. */
  async #waitForAttempts(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, ms)
    await Promise.race([Promise.allSettled([...this.#running.values()].map(({ ended }) => ended)), timer.promise])
    clearTimeout(timeout)
  }

  async #fetch(): Promise<void> {
    const job = this.#job
    this.#again = false
    for (;;) {
      const { free, full } = freeSlots(
        job,
        [...this.#running.values()].map(({ workspaceId }) => workspaceId),
      )
      if (free <= 0 || this.#stop.signal.aborted) return
      // A fetch that leaves out full workspaces still reads all their waiting jobs: it is not repeated until a signal announces new jobs.
      if (this.#waiting?.every((workspaceId) => full.includes(workspaceId))) return
      this.#woken = false
      try {
        const rows = await this.#services.jobQueue.boss.fetch<JobEnvelope>(job.name, {
          batchSize: free,
          includeMetadata: true,
          ...(full.length === 0 ? {} : { ignoreGroups: full }),
        })
        for (const row of rows) this.#startAttempt(row)
        if (rows.length < free && !this.#woken) this.#waiting = full
      } catch (error) {
        this.#services.log.warn({ err: error, queue: job.name }, 'could not fetch jobs')
        return
      }
    }
  }

  #startAttempt(row: JobWithMetadata<JobEnvelope>): void {
    recordWaitTime(row, this.#job.gate !== undefined)
    const halt = new AbortController()
    const ended = this.#attempt(row, halt).finally(() => {
      this.#running.delete(row.id)
      this.#onSlotFree()
    })
    this.#running.set(row.id, { workspaceId: row.data.workspaceId, ended, halt })
  }

  /** Fills a freed slot. Without a gate, slots that become free while ended jobs are being completed are filled together. */
  #onSlotFree(): void {
    // The ended job may have admitted the next one at its gate, whose signal has not arrived yet.
    if (this.#job.gate) this.wake()
    else if (!this.#completing) this.#fillSlots()
  }

  async #attempt(row: JobWithMetadata<JobEnvelope>, halt: AbortController): Promise<void> {
    const job = this.#job
    const done = jobAttemptSeconds.startTimer({ job: job.name })
    const endCall = trackCall(row.data.workspaceId ?? undefined)
    // Not AbortSignal.timeout, which stays in memory until it fires: 13,000 of them after five minutes of 43 jobs a second.
    const late = () => halt.abort(new Error(`${job.name} took more than ${job.timeoutSeconds} s`))
    const limit = setTimeout(late, job.timeoutSeconds * 1_000).unref()
    try {
      const outcome = await currentRequestId.run(row.data.cause.requestId, () => this.#runAttempt(row, halt.signal))
      done({ outcome: outcome === 'deferred' ? 'rested' : 'completed' })
      if (outcome === 'deferred') return
      this.#completed.push(row.id)
      this.#completing ??= this.#completeBatch()
    } catch (error) {
      done({ outcome: 'failed' })
      const { requestId } = row.data.cause
      this.#services.log[isOverloaded(error) ? 'warn' : 'error'](
        { err: error, job: job.name, job_id: row.id, attempt: row.retryCount + 1, request_id: requestId },
        'job failed',
      )
      await this.#fail(row, String((error as Error)?.message ?? error)).catch(() => undefined)
    } finally {
      endCall()
      clearTimeout(limit)
    }
  }

  /** Fails the job. If the database is unavailable, the job is returned to its queue later, unless another attempt has taken it. */
  async #fail(row: JobWithMetadata<JobEnvelope>, message: string): Promise<void> {
    const { db, jobQueue } = this.#services
    try {
      await jobQueue.boss.fail(row.name, row.id, { message })
    } catch (error) {
      if (isDatabaseUnavailable(error) || isDatabaseFull(error) || isOverloaded(error))
        await retryUntilAvailable(this.#stop.signal, () => returnJobToQueue(db, row))
    }
  }

  /** Completes jobs that end within the same few milliseconds in one statement. */
  async #completeBatch(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 2))
    this.#fillSlots()
    await this.#complete()
    this.#completing = this.#completed.length > 0 ? this.#completeBatch() : undefined
    if (!this.#completing) this.#fillSlots()
  }

  async #complete(): Promise<void> {
    const ids = this.#completed.splice(0)
    if (ids.length === 0) return
    const { jobQueue, log } = this.#services
    const { name } = this.#job
    // When this fails, the heartbeat expires and another attempt finds the operation completed.
    await retryUntilAvailable(this.#stop.signal, () => jobQueue.boss.complete(name, ids)).catch((error: unknown) => {
      log.warn({ err: error, queue: name }, 'could not complete jobs')
    })
  }

  async #sendHeartbeat(): Promise<void> {
    const ids = [...this.#running.keys()]
    if (ids.length > 0) await this.#services.jobQueue.boss.touch(this.#job.name, ids).catch(() => undefined)
  }
}
