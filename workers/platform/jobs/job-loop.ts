import type { JobWithMetadata } from 'pg-boss'
import { isDatabaseFull, isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import type { JobEnvelope } from '#shared/platform/jobs/job.ts'
import { returnJobToQueue } from '#shared/platform/jobs/monitoring/active-jobs.ts'
import { currentRequestId } from '#shared/platform/kernel/process/current-request.ts'
import { trackCall } from '#shared/platform/kernel/process/thread-share.ts'
import { jobAttemptSeconds } from '#workers/metrics.ts'
import { runAttempt, type WorkerServices } from '#workers/platform/jobs/attempt.ts'
import { freeSlots } from '#workers/platform/jobs/free-slots.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import { recordWaitTime } from '#workers/platform/jobs/wait-time.ts'

/** Well under the queue's heartbeat of 10 s. */
const heartbeatMs = 2_000
/** What is told to end has so long to settle what it was doing. */
const settleMs = 1_000

/** An attempt that runs: for whom, when it has ended, and how it is told to end. */
interface Attempt {
  readonly workspaceId: string | null
  readonly ended: Promise<void>
  readonly halt: AbortController
}

/**
 * Takes one queue's jobs as long as there are free slots. pg-boss's own `work` takes one job per wake-up at batch size 1 (40 sent, 4
 * answered in 20 s), so this loop asks for as many as it has slots for, and again while it got some.
 */
export class JobLoop {
  readonly #handler: AnyHandler
  readonly #services: WorkerServices
  readonly #running = new Map<string, Attempt>()
  readonly #completed: string[] = []
  readonly #stop = new AbortController()
  #heart: NodeJS.Timeout | undefined
  #fetching: Promise<void> | undefined
  #again = false
  /** The workspaces whose jobs alone may wait, told by the last look; undefined when jobs of any may. */
  #waiting: readonly string[] | undefined
  /** Whether somebody said that there is more since the last fetch was sent. */
  #woken = false
  #completing: Promise<void> | undefined

  constructor(handler: AnyHandler, services: WorkerServices) {
    this.#handler = handler
    this.#services = services
  }

  start(): void {
    this.#heart = setInterval(() => void this.#beat(), heartbeatMs)
  }

  /** Looks for jobs now; called when a signal or a poll names the queue. */
  wake(): void {
    this.#waiting = undefined
    this.#woken = true
    this.#look()
  }

  /** Takes what the slots that are free now may take of what is known to wait. */
  #look(): void {
    if (this.#stop.signal.aborted) return
    if (this.#fetching) {
      this.#again = true
      return
    }
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined
      if (this.#again) this.#look()
    })
  }

  /** The name of its queue. */
  get queue(): string {
    return this.#handler.job.name
  }

  /** Whether a signal of this name is for this loop: its queue's, or its gate's. */
  handlesSignal(name: string): boolean {
    const { job } = this.#handler
    return name === job.name || name === job.gate?.name
  }

  /** Whether nothing is running or being looked for. */
  get idle(): boolean {
    return this.#running.size === 0 && !this.#fetching && !this.#completing
  }

  /** Takes no more, lets what runs end within `graceMs`, then tells it to, and hands what still runs back to the queue. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort()
    await this.#fetching
    await this.#rest(graceMs)
    for (const { halt } of this.#running.values()) halt.abort()
    await this.#rest(settleMs)
    const { name } = this.#handler.job
    for (const id of this.#running.keys())
      await this.#services.jobQueue.boss.fail(name, id, { message: 'the worker stopped' }).catch(() => undefined)
    await this.#completing
    await this.#complete()
    clearInterval(this.#heart)
  }

  /** Waits for what runs, so long at most. */
  async #rest(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, ms)
    await Promise.race([Promise.allSettled([...this.#running.values()].map(({ ended }) => ended)), timer.promise])
    clearTimeout(timeout)
  }

  async #fetch(): Promise<void> {
    const { job } = this.#handler
    this.#again = false
    for (;;) {
      const { free, full } = freeSlots(
        job,
        [...this.#running.values()].map(({ workspaceId }) => workspaceId),
      )
      if (free <= 0 || this.#stop.signal.aborted) return
      // A fetch past a workspace that is full reads all that waits of it, and finds nothing but what came since with a signal.
      if (this.#waiting?.every((workspaceId) => full.includes(workspaceId))) return
      this.#woken = false
      try {
        const rows = await this.#services.jobQueue.boss.fetch<JobEnvelope>(job.name, {
          batchSize: free,
          includeMetadata: true,
          ...(full.length === 0 ? {} : { ignoreGroups: full }),
        })
        for (const row of rows) this.#take(row)
        if (rows.length < free && !this.#woken) this.#waiting = full
      } catch (error) {
        this.#services.log.warn({ err: error, queue: job.name }, 'could not fetch jobs')
        return
      }
    }
  }

  #take(row: JobWithMetadata<JobEnvelope>): void {
    recordWaitTime(row, this.#handler.job.gate !== undefined)
    const halt = new AbortController()
    const ended = this.#attempt(row, halt).finally(() => {
      this.#running.delete(row.id)
      this.#freed()
    })
    this.#running.set(row.id, { workspaceId: row.data.workspaceId, ended, halt })
  }

  /** A slot is free: it is filled together with those that come free until the jobs that ended are completed. */
  #freed(): void {
    // What ended may have let the next one through its gate, and the signal of that is still on its way.
    if (this.#handler.job.gate) this.wake()
    else if (!this.#completing) this.#look()
  }

  async #attempt(row: JobWithMetadata<JobEnvelope>, halt: AbortController): Promise<void> {
    const { job } = this.#handler
    const done = jobAttemptSeconds.startTimer({ job: job.name })
    const endCall = trackCall()
    // A signal of AbortSignal.timeout stays until its time has come: 13,000 of them after five minutes of 43 jobs a second.
    const late = () => halt.abort(new Error(`${job.name} took more than ${job.timeoutSeconds} s`))
    const limit = setTimeout(late, job.timeoutSeconds * 1_000).unref()
    try {
      const outcome = await currentRequestId.run(row.data.cause.requestId, () =>
        runAttempt(this.#handler, row, halt.signal, this.#services),
      )
      done({ outcome: outcome === 'rests' ? 'rested' : 'completed' })
      if (outcome === 'rests') return
      this.#completed.push(row.id)
      this.#completing ??= this.#gather()
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

  /** Where a database that was away has not heard of it, the job goes back into its queue, unless somebody has it already. */
  async #fail(row: JobWithMetadata<JobEnvelope>, message: string): Promise<void> {
    const { db, jobQueue } = this.#services
    try {
      await jobQueue.boss.fail(row.name, row.id, { message })
    } catch (error) {
      if (isDatabaseUnavailable(error) || isDatabaseFull(error) || isOverloaded(error))
        await retryUntilAvailable(this.#stop.signal, () => returnJobToQueue(db, row))
    }
  }

  /** Completes in batches: what ends in the same few milliseconds is one statement. */
  async #gather(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 2))
    this.#look()
    await this.#complete()
    this.#completing = this.#completed.length > 0 ? this.#gather() : undefined
    if (!this.#completing) this.#look()
  }

  async #complete(): Promise<void> {
    const ids = this.#completed.splice(0)
    if (ids.length === 0) return
    const { jobQueue, log } = this.#services
    const { name } = this.#handler.job
    // When this is lost, the heartbeat runs out and another attempt finds the operation settled.
    await retryUntilAvailable(this.#stop.signal, () => jobQueue.boss.complete(name, ids)).catch((error: unknown) => {
      log.warn({ err: error, queue: name }, 'could not complete jobs')
    })
  }

  async #beat(): Promise<void> {
    const ids = [...this.#running.keys()]
    if (ids.length > 0) await this.#services.jobQueue.boss.touch(this.#handler.job.name, ids).catch(() => undefined)
  }
}
