import type { Executor } from '#shared/platform/db/database.ts'
import { outboxSignal } from '#shared/platform/events/announce.ts'
import { findWaitingWorkspaces, takeDispatches } from '#shared/platform/events/store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { findCrowdedWorkspaces } from '#shared/platform/jobs/pgboss/crowded-workspaces.ts'
import { waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { planDispatch } from '#workers/platform/events/plan-dispatch.ts'

/** Polling interval in milliseconds, the maximum delay after a missed signal. */
const pollMs = 2_000

/**
 * Maximum number of dispatches delivered per transaction, shared equally among workspaces, and maximum number of workspaces that share it.
 * A worker delivers 9,600 changes a second in such batches, and 1,300 when each has a transaction of its own.
 */
const batchSize = 500

/**
 * While a workspace has this many jobs waiting in a subscriber's queue, its further changes wait in the outbox, which is fair among
 * workspaces. Two batches, so the queue does not run empty before the next one (at 250, 12,000 jobs a second ran instead of 18,000).
 */
const maxWaitingJobs = 1_000

/** Minimum and maximum pause before a crowded queue is checked again; it doubles while nothing can be delivered. */
const [minPauseMs, maxPauseMs] = [5, pollMs]

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly log: Logger
}

/**
 * Delivers events: each dispatch in the outbox becomes one job per subscriber. Taking and enqueuing are one transaction, so concurrent
 * processes and crashes lose and duplicate nothing. The jobs run as the platform, since the actor of the change may have left the
 * workspace.
 */
export class EventDispatcher {
  readonly #services: Services
  readonly #subscriptions: Subscriptions
  /** Job names of all subscribers. */
  readonly #jobNames: readonly string[]
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #pauseMs = minPauseMs
  #working: Promise<void> | undefined
  #wakeRequested = false
  #after = lowestId

  constructor(services: Services, subscriptions: Subscriptions) {
    this.#services = services
    this.#subscriptions = subscriptions
    this.#jobNames = [...new Set(Object.values(subscriptions).map(({ job }) => job.name))]
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
    this.wake()
  }

  /** Delivers waiting events now; called on a signal. */
  wake(): void {
    this.#wakeRequested = true
    if (this.#working || this.#stop.signal.aborted) return
    this.#working = this.#work().finally(() => {
      this.#working = undefined
      if (this.#wakeRequested) this.wake()
    })
  }

  handlesSignal(signal: string): boolean {
    return signal === outboxSignal
  }

  /** Whether no delivery is in progress. */
  get idle(): boolean {
    return !this.#working
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#timer)
    await this.#working
    clearTimeout(this.#retryTimer)
  }

  async #work(): Promise<void> {
    while (this.#wakeRequested && !this.#stop.signal.aborted) {
      this.#wakeRequested = false
      try {
        await this.#deliverBatch()
      } catch (error) {
        if (!countRefusal(error)) this.#services.log.warn({ err: error }, 'could not deliver events')
      }
    }
    this.#wakeRequested = false
  }

  /** Delivers the oldest dispatches of the waiting workspaces, the same number of each. */
  async #deliverBatch(): Promise<void> {
    const { db, jobQueue } = this.#services
    // The jobs of a paused subscriber do not hold up the others.
    const taking = this.#jobNames.filter((name) => !jobQueue.pauses.has(name))
    const [workspaces, crowded] = await Promise.all([
      db.query(findWaitingWorkspaces({ afterId: this.#after, limit: batchSize })),
      findCrowdedWorkspaces(db, taking, maxWaitingJobs),
    ])
    const isLast = workspaces.length < batchSize
    // Subscribers' jobs are automation steps: those of a suspended workspace wait here, where they cost nothing.
    const waiting = workspaces.flatMap(({ workspaceId, isSuspended }) => (isSuspended && waitsForWorkspace('step') ? [] : [workspaceId]))
    const open = waiting.filter((workspaceId) => !crowded.has(workspaceId))
    const share = Math.ceil(batchSize / open.length)
    const taken = open.length > 0 ? await deliverOldest(this.#services, this.#subscriptions, open, share) : []
    if (!isLast || taken.some((count) => count === share)) this.#wakeRequested = true
    this.#after = isLast ? lowestId : (workspaces.at(-1)?.workspaceId ?? lowestId)
    this.#pauseMs = taken.length > 0 ? minPauseMs : Math.min(2 * this.#pauseMs, maxPauseMs)
    if (open.length < waiting.length) this.#wakeLater()
  }

  #wakeLater(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined
      this.wake()
    }, this.#pauseMs)
  }
}

/** Delivers the oldest dispatches of some workspaces and returns their number for each workspace that had any. */
async function deliverOldest(
  { db, jobQueue }: Services,
  subscriptions: Subscriptions,
  workspaceIds: readonly string[],
  perWorkspace: number,
): Promise<number[]> {
  const dispatches = await db.transaction(async (tx) => {
    const dispatches = await tx.query(takeDispatches({ known: Object.keys(subscriptions), workspaceIds, perWorkspace }))
    const deliveries = dispatches.flatMap((dispatch) => planDispatch(dispatch, subscriptions))
    for (const [job, ofJob] of Map.groupBy(deliveries, ({ subscription }) => subscription.job)) {
      const requests = ofJob.map(({ id, cause, changes }) => ({
        id,
        origin: { workspaceId: changes.workspaceId, cause },
        payload: changes,
      }))
      await enqueueAll(jobQueue, tx, job, requests)
    }
    return dispatches
  })
  return [...Map.groupBy(dispatches, ({ workspaceId }) => workspaceId).values()].map(({ length }) => length)
}
