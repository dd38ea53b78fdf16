import type { JobWithMetadata } from 'pg-boss'
import type { Executor } from '#shared/platform/db/database.ts'
import { isDatabaseUnusable, isOverloaded } from '#shared/platform/db/database-errors.ts'
import type { RunningJob } from '#shared/platform/db/processes/store.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import { judgeFailure } from '#shared/platform/jobs/failed-attempt.ts'
import type { AnyJob, JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { type AttemptOutcome, recordAttempt } from '#shared/platform/jobs/metrics.ts'
import { returnJobToQueue, sendHeartbeats } from '#shared/platform/jobs/pgboss/active-jobs.ts'
import { endedPartWait, endPartWaits, startPartWait, waitingSince } from '#shared/platform/jobs/pgboss/part-waits.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { runNamed } from '#shared/platform/kernel/process/current-request.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { RunningCall } from '#shared/platform/kernel/process/running-calls.ts'
import { workOwner } from '#shared/platform/kernel/process/work-owner.ts'
import { type FreeSlots, freeSlots, noSlots, type SlotHolder } from '#workers/platform/jobs/free-slots.ts'
import { AttemptCancelled, LoggedFailure } from '#workers/platform/jobs/handler.ts'
import { recordWaitTime } from '#workers/platform/jobs/wait-time.ts'

/** Interval of heartbeats, well below the 10 s after which pg-boss gives a job without heartbeats to another worker. */
const heartbeatMs = 2_000
/** The time that aborted attempts have to finish. */
const abortGraceMs = 1_000

/** A running attempt: its workspace and share, its end and its abort signal. */
interface Attempt extends SlotHolder {
  readonly since: Date
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

/** Which workspaces share slots. Both answer from the cache in most calls. */
export interface WorkspaceShares {
  readonly shareOf: (workspaceId: string) => Promise<string>
  readonly membersOf: (shareId: string) => Promise<readonly string[]>
}

/**
 * Fetches one queue's jobs while slots are free. pg-boss's own `work` fetches one job per wake-up at batch size 1 (40 sent, 4 answered in
 * 20 s), so this loop fetches as many as it has free slots, repeatedly until none are left.
 */
export class JobLoop {
  readonly #job: AnyJob
  readonly #runAttempt: RunAttempt
  readonly #services: LoopServices
  readonly #shares: WorkspaceShares
  /** The loops of all jobs with this job's gate, this one among them. */
  readonly #peers: () => readonly JobLoop[]
  readonly #running = new Map<string, Attempt>()
  readonly #completed: string[] = []
  readonly #stop = new AbortController()
  #heartbeatTimer: NodeJS.Timeout | undefined
  #fetching: Promise<void> | undefined
  #again = false
  /**
   * Workspaces that the last fetch within the shares, or beyond them, left out as full, if it found no more jobs of others. Undefined when any
   * workspace may have jobs.
   */
  #waiting: { within?: readonly string[]; beyond?: readonly string[] } = {}
  /** Whether a signal arrived since the last fetch was sent. */
  #woken = false
  #completing: Promise<void> | undefined

  constructor(
    job: AnyJob,
    runAttempt: RunAttempt,
    services: LoopServices,
    shares: WorkspaceShares,
    peers: () => readonly JobLoop[] = () => [this],
  ) {
    this.#job = job
    this.#runAttempt = runAttempt
    this.#services = services
    this.#shares = shares
    this.#peers = peers
  }

  start(): void {
    this.#heartbeatTimer = setInterval(() => void this.#sendHeartbeat(), heartbeatMs)
  }

  /** Fetches jobs now; called when a signal or a poll names the queue. */
  wake(): void {
    this.#waiting = {}
    this.#woken = true
    this.#fillSlots()
  }

  /** Fills the free slots with waiting jobs. */
  #fillSlots(): void {
    if (this.#isHeld) return
    if (this.#fetching) {
      this.#again = true
      return
    }
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined
      if (this.#again) this.#fillSlots()
    })
  }

  /** Whether it takes no jobs: it stops, or its kind is paused. */
  get #isHeld(): boolean {
    return this.#stop.signal.aborted || this.#services.jobQueue.pauses.has(this.#job.name)
  }

  /** The name of its queue. */
  get queue(): string {
    return this.#job.name
  }

  /** The holders of its slots. */
  get holders(): readonly SlotHolder[] {
    return [...this.#running.values()]
  }

  /** The jobs that it runs. */
  get running(): RunningJob[] {
    const job = this.#job.name
    return [...this.#running].map(([id, { workspaceId, since }]) => ({ job, id, workspace_id: workspaceId, since: since.toISOString() }))
  }

  /** Whether a signal names this loop's queue or its gate. */
  handlesSignal(name: string): boolean {
    const job = this.#job
    return name === job.name || name === job.gate?.name
  }

  /** Whether nothing is running, being fetched or being completed. */
  get idle(): boolean {
    return this.#running.size === 0 && this.isQuiet
  }

  /** Whether nothing is being fetched or completed. */
  get isQuiet(): boolean {
    return !this.#fetching && !this.#completing
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

  /** Fetches while slots are free: first jobs of shares that hold less than one workspace may, then, if none of those wait, any. */
  async #fetch(): Promise<void> {
    this.#again = false
    try {
      for (;;) {
        const { within, beyond } = await this.#plan()
        if (await this.#fetchOnce('within', within)) continue
        if (!(await this.#fetchOnce('beyond', beyond))) return
      }
    } catch (error) {
      if (!countRefusal(error)) this.#services.log.warn({ err: error, queue: this.#job.name }, 'could not fetch jobs')
    }
  }

  /** The free slots, with workspaces in place of shares. */
  async #plan(): Promise<{ readonly within: FreeSlots; readonly beyond: FreeSlots }> {
    const holders = this.#peers().flatMap((loop) => loop.holders)
    const { within, beyond } = freeSlots(this.#job, this.holders, holders)
    const full = new Set<string>()
    for (const shareId of within.full) {
      const members = new Set(await this.#shares.membersOf(shareId))
      for (const holder of holders) if (holder.shareId === shareId && holder.workspaceId !== null) members.add(holder.workspaceId)
      // At a gate a single workspace is never over its limit, and its next job may have been admitted already.
      if (members.size > 1 || this.#job.slotsPerWorkspace !== undefined) for (const id of members) full.add(id)
    }
    const isBeyondPossible = !full.isSubsetOf(new Set(beyond.full))
    return { within: { free: within.free, full: [...full] }, beyond: isBeyondPossible ? beyond : noSlots }
  }

  /**
   * Fetches jobs and starts their attempts; returns whether the slots must be looked at again. A fetch that leaves out full workspaces still
   * reads all their waiting jobs, so it is not repeated until a signal announces new jobs or another workspace has free slots.
   */
  async #fetchOnce(kind: 'within' | 'beyond', { free, full }: FreeSlots): Promise<boolean> {
    if (free <= 0 || this.#isHeld) return false
    const waiting = this.#waiting[kind]
    if (waiting && new Set(waiting).isSubsetOf(new Set(full))) return false
    this.#woken = false
    const rows = await this.#services.jobQueue.boss.fetch<JobEnvelope>(this.#job.name, {
      batchSize: free,
      includeMetadata: true,
      ...(full.length === 0 ? {} : { ignoreGroups: [...full] }),
    })
    const shares = await Promise.all(rows.map((row) => this.#shareOf(row.data.workspaceId)))
    for (const [index, row] of rows.entries()) this.#startAttempt(row, shares[index] ?? null)
    if (rows.length < free && !this.#woken) this.#waiting[kind] = full
    return true
  }

  /** The share of a workspace. A workspace that cannot be read counts by itself: its job was fetched and has to be attempted. */
  async #shareOf(workspaceId: string | null): Promise<string | null> {
    return workspaceId === null ? null : this.#shares.shareOf(workspaceId).catch(() => workspaceId)
  }

  #startAttempt(row: JobWithMetadata<JobEnvelope>, shareId: string | null): void {
    recordWaitTime(row, this.#job.gate !== undefined)
    const halt = new AbortController()
    const { workspaceId, cause } = row.data
    const ended = runNamed(cause.requestId, workspaceId ?? undefined, () => this.#attempt(row, shareId, halt)).finally(() => {
      this.#running.delete(row.id)
      this.#onSlotFree()
    })
    this.#running.set(row.id, { since: new Date(), workspaceId, shareId, ended, halt })
  }

  /** Fills a freed slot. Without a gate, slots that become free while ended jobs are being completed are filled together. */
  #onSlotFree(): void {
    // The ended job may have admitted the next one at its gate, whose signal has not arrived yet.
    if (this.#job.gate) this.wake()
    else if (!this.#completing) this.#fillSlots()
  }

  async #attempt(row: JobWithMetadata<JobEnvelope>, shareId: string | null, halt: AbortController): Promise<void> {
    const job = this.#job
    const began = performance.now()
    const { workspaceId } = row.data
    const record = (outcome: AttemptOutcome) => recordAttempt(job.name, workspaceId, outcome, performance.now() - began)
    const call = new RunningCall()
    call.countFor(workspaceId === null ? null : workOwner(workspaceId, shareId ?? workspaceId))
    // Not AbortSignal.timeout, which stays in memory until it fires: 13,000 of them after five minutes of 43 jobs a second.
    const late = () => halt.abort(new Error(`${job.name} took more than ${job.timeoutSeconds} s`))
    const limit = setTimeout(late, job.timeoutSeconds * 1_000).unref()
    try {
      const outcome = await this.#runAttempt(row, halt.signal)
      record(outcome === 'deferred' ? 'rested' : 'completed')
      this.#releaseWaiting(row, undefined)
      if (outcome === 'deferred') return
      this.#completed.push(row.id)
      this.#completing ??= this.#completeBatch()
    } catch (error) {
      const { part, outcome } = judgeFailure(row, error)
      const waitsFor = outcome === 'waits' ? part : undefined
      record(waitsFor === undefined ? 'failed' : 'waits')
      this.#releaseWaiting(row, part)
      await (waitsFor === undefined ? this.#logAndFail(row, error) : this.#waitFor(waitsFor, row, error)).catch(() => undefined)
    } finally {
      call.end()
      clearTimeout(limit)
    }
  }

  /** Returns the job to its queue until the part is back. The state of the part has been logged once for all jobs. */
  async #waitFor(part: string, row: JobWithMetadata<JobEnvelope>, error: unknown): Promise<void> {
    const { db, jobQueue, log } = this.#services
    const { tracked, once } = this.#job
    countRefusal(error)
    // Work that is done once has ended by this failure: its next attempt completes the operation as failed.
    const operationId = tracked && !once ? (row.data.operationId ?? row.id) : null
    const isCallerInformed = await retryUntilAvailable(this.#stop.signal, () => startPartWait(db, row, operationId, part, error))
    if (isCallerInformed && operationId !== null) jobQueue.signals.signalCompletion(operationId, null)
    log.debug({ job: row.name, job_id: row.id, part }, 'job waits for a part')
  }

  /** After a job that had waited for a part, and that the part did not fail again, makes the others due that wait for it. */
  #releaseWaiting(row: JobWithMetadata<JobEnvelope>, away: string | undefined): void {
    const waited = endedPartWait(row)?.part
    if (waited === undefined || waited === away) return
    const { db, jobQueue } = this.#services
    // A failure is repaired by the next probe.
    void endPartWaits(db, waited).then(
      (queues) => queues.forEach((queue) => void jobQueue.signals.signalJobs(queue)),
      () => undefined,
    )
  }

  async #logAndFail(row: JobWithMetadata<JobEnvelope>, error: unknown): Promise<void> {
    const { log } = this.#services
    if (!(error instanceof LoggedFailure)) {
      const fields = { err: error, job: row.name, job_id: row.id, attempt: row.retryCount + 1 }
      log[isOverloaded(error) ? 'warn' : 'error'](fields, 'job failed')
    }
    await this.#fail(row, String((error as Error)?.message ?? error))
  }

  /** Fails the job. If the database is unavailable, the job is returned to its queue later, unless another attempt has taken it. */
  async #fail(row: JobWithMetadata<JobEnvelope>, message: string): Promise<void> {
    const { db, jobQueue } = this.#services
    const since = waitingSince(row)
    try {
      await jobQueue.boss.fail(row.name, row.id, { message, ...(since === undefined ? {} : { since }) })
    } catch (error) {
      if (isDatabaseUnusable(error)) await retryUntilAvailable(this.#stop.signal, () => returnJobToQueue(db, row))
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
      if (!countRefusal(error)) log.warn({ err: error, queue: name }, 'could not complete jobs')
    })
  }

  async #sendHeartbeat(): Promise<void> {
    const ids = [...this.#running.keys()]
    if (ids.length === 0) return
    // A failure is made good by the next heartbeat, two seconds later.
    const cancelled = await sendHeartbeats(this.#services.db, this.#job.name, ids).catch(() => [])
    for (const id of cancelled) this.#running.get(id)?.halt.abort(new AttemptCancelled('an operator cancelled the job'))
  }
}
