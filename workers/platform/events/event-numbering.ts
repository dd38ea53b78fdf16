import type { Executor } from '#shared/platform/db/database.ts'
import { findInboxWorkspaces } from '#shared/platform/events/numbering-store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import { findWaitingWorkspaces, takeDispatches } from '#shared/platform/events/waiting-store.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { inboxSignal } from '#shared/platform/jobs/job-signals.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { CrowdedWorkspaces } from '#workers/platform/events/crowded-workspaces.ts'
import { enqueueDispatches, waitsWhole } from '#workers/platform/events/file-dispatches.ts'
import { numberBatch } from '#workers/platform/events/number-batch.ts'

/** Polling interval in milliseconds, the maximum delay after a missed signal. */
const pollMs = 2_000

/**
 * Maximum number of events, or of waiting deliveries, per transaction, shared equally among workspaces, and maximum number of workspaces
 * that share it. A worker delivers 9,600 changes a second in such batches, and 1,300 when each has a transaction of its own.
 */
const batchSize = 500

/** While nothing is left over, other processes' waiting deliveries are looked for once in this time, in milliseconds. */
const findWaitingMs = 500

/** Minimum and maximum pause before a crowded queue is checked again; it doubles while nothing can be delivered. */
const [minPauseMs, maxPauseMs] = [5, pollMs]

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly log: Logger
}

/**
 * Numbers the events of all workspaces and files the jobs of their listeners; later it files those that had to wait. Any number of processes
 * may do so.
 */
export class EventNumbering {
  readonly #services: Services
  readonly #subscriptions: Subscriptions
  readonly #crowded: CrowdedWorkspaces
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #pauseMs = minPauseMs
  #working: Promise<void> | undefined
  #wakeRequested = false
  /** Whether events may wait in any workspace, and the workspaces that signals named. */
  #mayWaitAnywhere = false
  readonly #named = new Set<string>()
  #afterInbox = lowestId
  #afterWaiting = lowestId
  /** When waiting deliveries are looked for again, on the clock of `performance`. */
  #fileAtMs = 0

  constructor(services: Services, subscriptions: Subscriptions) {
    this.#services = services
    this.#subscriptions = subscriptions
    this.#crowded = new CrowdedWorkspaces(services, subscriptions)
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#crowded.refresh()
      this.wake()
    }, pollMs)
    this.wake()
  }

  /** Numbers and files what waits now; on signals that name workspaces, what waits of those. */
  wake(signals: readonly string[] = [inboxSignal]): void {
    for (const signal of signals) {
      if (signal === inboxSignal) this.#mayWaitAnywhere = true
      else this.#named.add(signal.slice(inboxSignal.length + 1))
    }
    this.#wakeRequested = true
    if (this.#working || this.#stop.signal.aborted) return
    this.#working = this.#work().finally(() => {
      this.#working = undefined
      if (this.#wakeRequested) this.wake([])
    })
  }

  handlesSignal(signal: string): boolean {
    return signal === inboxSignal || signal.startsWith(`${inboxSignal}/`)
  }

  /** Whether nothing is numbered or filed at the moment. */
  get idle(): boolean {
    return !this.#working
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#timer)
    await this.#working
    await this.#crowded.close()
    clearTimeout(this.#retryTimer)
  }

  async #work(): Promise<void> {
    while (this.#wakeRequested && !this.#stop.signal.aborted) {
      this.#wakeRequested = false
      await this.#attempt(() => this.#number(), 'could not number events')
      if (performance.now() >= this.#fileAtMs) await this.#attempt(() => this.#file(), 'could not deliver events')
    }
    this.#wakeRequested = false
  }

  async #attempt(work: () => Promise<void>, failure: string): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!countRefusal(error)) this.#services.log.warn({ err: error }, failure)
    }
  }

  /** Numbers the next events of the workspaces that have some, the same number of each. */
  async #number(): Promise<void> {
    const workspaceIds = await this.#nextWorkspaces()
    if (workspaceIds.length === 0) return
    const share = Math.ceil(batchSize / workspaceIds.length)
    try {
      await this.#numberTogether(workspaceIds, share)
    } catch (error) {
      // What fails in one workspace must not hold up the others.
      if (workspaceIds.length === 1 || countRefusal(error)) throw error
      for (const workspaceId of workspaceIds) {
        if (this.#stop.signal.aborted) return
        await this.#attempt(() => this.#numberTogether([workspaceId], share), 'could not number events')
      }
    }
  }

  async #numberTogether(workspaceIds: readonly string[], share: number): Promise<void> {
    const { taken, leftWaiting } = await numberBatch(this.#services, this.#subscriptions, workspaceIds, share, this.#crowded)
    if (leftWaiting) this.#fileAtMs = 0
    if ([...taken.values()].some((count) => count === share)) this.wake()
  }

  /** The workspaces that signals named, without a look at the others; else the next of all that have events to number. */
  async #nextWorkspaces(): Promise<readonly string[]> {
    const named = [...this.#named]
    this.#named.clear()
    if (!this.#mayWaitAnywhere && named.length <= batchSize) return named
    this.#mayWaitAnywhere = false
    const listed = await this.#services.db.query(findInboxWorkspaces({ afterId: this.#afterInbox, limit: batchSize }))
    const isLast = listed.length < batchSize
    this.#afterInbox = isLast ? lowestId : (listed.at(-1)?.workspaceId ?? lowestId)
    if (!isLast) this.wake()
    return listed.map(({ workspaceId }) => workspaceId)
  }

  /** Files the oldest waiting deliveries of the workspaces that have some, the same number of each. */
  async #file(): Promise<void> {
    const { db } = this.#services
    const listed = await db.query(findWaitingWorkspaces({ afterId: this.#afterWaiting, limit: batchSize }))
    const isLast = listed.length < batchSize
    this.#afterWaiting = isLast ? lowestId : (listed.at(-1)?.workspaceId ?? lowestId)
    this.#fileAtMs = listed.length === 0 ? performance.now() + findWaitingMs : 0
    if (listed.length === 0) return
    const waiting = listed.flatMap(({ workspaceId, isSuspended }) => (waitsWhole(isSuspended) ? [] : [workspaceId]))
    const crowded = await this.#crowded.read()
    const open = waiting.filter((workspaceId) => !crowded.has(workspaceId))
    const share = Math.ceil(batchSize / open.length)
    const taken = open.length > 0 ? await this.#fileOldest(open, share) : []
    if (!isLast || taken.some((count) => count === share)) this.#wakeRequested = true
    this.#pauseMs = taken.length > 0 ? minPauseMs : Math.min(2 * this.#pauseMs, maxPauseMs)
    if (open.length < waiting.length) this.#wakeLater()
  }

  /** Files the oldest waiting deliveries of some workspaces and returns their number for each workspace that had any. */
  async #fileOldest(workspaceIds: readonly string[], perWorkspace: number): Promise<number[]> {
    const { db, jobQueue } = this.#services
    const known = Object.keys(this.#subscriptions)
    const dispatches = await db.transaction(async (tx) => {
      const dispatches = await tx.query(takeDispatches({ known, workspaceIds, perWorkspace }))
      await enqueueDispatches({ db: tx, jobQueue }, this.#subscriptions, dispatches)
      return dispatches
    })
    return [...Map.groupBy(dispatches, ({ workspaceId }) => workspaceId).values()].map(({ length }) => length)
  }

  #wakeLater(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined
      this.wake()
    }, this.#pauseMs)
  }
}
