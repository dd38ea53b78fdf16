import type { Executor } from '#shared/db/database.ts'
import { beforeAll, findLines, outbox, takeDispatches } from '#shared/events/outbox.ts'
import { waitsForWorkspace } from '#shared/kernel/background.ts'
import type { Logger } from '#shared/kernel/log.ts'
import { findCrowded } from '#shared/queue/crowded.ts'
import { enqueueAll } from '#shared/queue/enqueue-all.ts'
import type { Queue } from '#shared/queue/queue.ts'
import { planOf } from '#workers/events/plan.ts'
import { subscriptions } from '#workers/subscriptions.ts'

/** A missed wake-up is made good after this long at most. */
const pollMs = 2_000

/**
 * Dispatches that are handed on in one transaction, as many of each workspace, and workspaces that are looked at for it. One by one, a worker
 * hands on 1,300 changes a second, together 9,600.
 */
const lotSize = 500

/**
 * While a workspace has so many jobs waiting in a subscriber's queue, its other changes wait in the outbox, where every workspace has its
 * turn: two lots, so that the queue is not empty before the next is filed (at 250, 12,000 jobs a second were done instead of 18,000).
 */
const crowd = 1_000

/** Until a queue that was crowded is looked at again: longer each time, as long as nothing can be handed on. */
const [shortestPauseMs, longestPauseMs] = [5, pollMs]

interface Services {
  readonly db: Executor
  readonly queue: Queue
  readonly log: Logger
}

/**
 * Hands changes of records on: what a change left in the outbox becomes one job for each subscriber. Taking and filing are one transaction,
 * so nothing is lost or filed twice, however many processes do it and whenever one of them dies. The platform does it, since whoever made
 * the change may have left the workspace.
 */
export class Dispatcher {
  readonly #services: Services
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #later: NodeJS.Timeout | undefined
  #pauseMs = shortestPauseMs
  #working: Promise<void> | undefined
  #again = false
  #after = beforeAll

  constructor(services: Services) {
    this.#services = services
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
    this.wake()
  }

  /** Looks for changes now; called when a signal says that there are some. */
  wake(): void {
    this.#again = true
    if (this.#working || this.#stop.signal.aborted) return
    this.#working = this.#work().finally(() => {
      this.#working = undefined
      if (this.#again) this.wake()
    })
  }

  goesBy(signal: string): boolean {
    return signal === outbox
  }

  /** Whether nothing is being handed on. */
  get idle(): boolean {
    return !this.#working
  }

  /** Ends with the lot that is being handed on. */
  async stop(): Promise<void> {
    this.#stop.abort()
    clearInterval(this.#timer)
    await this.#working
    clearTimeout(this.#later)
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false
      try {
        await this.#handOn()
      } catch (error) {
        this.#services.log.warn({ err: error }, 'could not hand changes on')
      }
    }
    this.#again = false
  }

  /** Hands on the oldest changes of the workspaces that wait, as many of each. */
  async #handOn(): Promise<void> {
    const { db } = this.#services
    const [lines, crowded] = await Promise.all([findLines(db, this.#after, lotSize), findCrowded(db, queues, crowd)])
    const isLast = lines.length < lotSize
    // What subscribers do is a step of an automation: in a suspended workspace it waits here, where it costs nothing.
    const waiting = lines.flatMap(({ workspaceId, isSuspended }) => (isSuspended && waitsForWorkspace('step') ? [] : [workspaceId]))
    const open = waiting.filter((workspaceId) => !crowded.has(workspaceId))
    const share = Math.ceil(lotSize / open.length)
    const taken = open.length > 0 ? await handOn(this.#services, open, share) : []
    if (!isLast || taken.some((count) => count === share)) this.#again = true
    this.#after = isLast ? beforeAll : (lines.at(-1)?.workspaceId ?? beforeAll)
    this.#pauseMs = taken.length > 0 ? shortestPauseMs : Math.min(2 * this.#pauseMs, longestPauseMs)
    if (open.length < waiting.length) this.#wakeLater()
  }

  #wakeLater(): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined
      this.wake()
    }, this.#pauseMs)
  }
}

/** The queues of all subscribers. */
const queues = [...new Set(Object.values(subscriptions).map(({ job }) => job.name))]

/** Hands the oldest changes of some workspaces on and says how many dispatches they were, of each that had any. */
async function handOn({ db, queue }: Services, workspaceIds: readonly string[], ofEach: number): Promise<number[]> {
  const dispatches = await db.transaction(async (tx) => {
    const dispatches = await takeDispatches(tx, Object.keys(subscriptions), workspaceIds, ofEach)
    const parts = dispatches.flatMap((dispatch) => planOf(dispatch, subscriptions))
    for (const [job, ofJob] of Map.groupBy(parts, ({ subscription }) => subscription.job)) {
      const filings = ofJob.map(({ id, cause, changes }) => ({ id, origin: { workspaceId: changes.workspaceId, cause }, payload: changes }))
      await enqueueAll(queue, tx, job, filings)
    }
    return dispatches
  })
  return [...Map.groupBy(dispatches, ({ workspaceId }) => workspaceId).values()].map(({ length }) => length)
}
