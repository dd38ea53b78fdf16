import type { Executor } from '#shared/db/database.ts'
import { outbox, takeDispatches } from '#shared/events/outbox.ts'
import type { Logger } from '#shared/kernel/log.ts'
import { enqueueAll } from '#shared/queue/enqueue-all.ts'
import type { Queue } from '#shared/queue/queue.ts'
import { type Part, planOf } from '#workers/events/plan.ts'
import { chainsCut } from '#workers/metrics.ts'
import { subscriptions } from '#workers/subscriptions.ts'

/** A missed wake-up is made good after this long at most. */
const pollMs = 2_000

/** Dispatches that are handed on in one transaction; one by one, a worker hands on 1,300 changes a second, together 9,600. */
const lotSize = 500

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
  #working: Promise<void> | undefined
  #again = false

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
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#stop.signal.aborted) {
      this.#again = false
      try {
        if ((await handOn(this.#services)) === lotSize) this.#again = true
      } catch (error) {
        this.#services.log.warn({ err: error }, 'could not hand changes on')
      }
    }
    this.#again = false
  }
}

/** Hands the oldest changes on and says how many dispatches they were. */
async function handOn({ db, queue, log }: Services): Promise<number> {
  const { count, cut } = await db.transaction(async (tx) => {
    const dispatches = await takeDispatches(tx, Object.keys(subscriptions), lotSize)
    const parts = dispatches.flatMap((dispatch) => planOf(dispatch, subscriptions))
    const going = parts.filter(({ isCut }) => !isCut)
    for (const [job, ofJob] of Map.groupBy(going, ({ subscription }) => subscription.job)) {
      const filings = ofJob.map(({ id, cause, changes }) => ({ id, origin: { workspaceId: changes.workspaceId, cause }, payload: changes }))
      await enqueueAll(queue, tx, job, filings)
    }
    return { count: dispatches.length, cut: parts.filter(({ isCut }) => isCut) }
  })
  for (const part of cut) recordCut(log, part)
  return count
}

function recordCut(log: Logger, { subscriber, cause, changes: { workspaceId, objectType, event } }: Part): void {
  chainsCut.inc({ subscriber })
  log.warn(
    { request_id: cause.requestId, workspace_id: workspaceId, object_type: objectType, event, subscriber, depth: cause.depth },
    'a chain of automations was cut: it is taken for a loop',
  )
}
