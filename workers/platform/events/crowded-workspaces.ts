import type { Executor } from '#shared/platform/db/database.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { findCrowdedWorkspaces } from '#shared/platform/jobs/pgboss/crowded-workspaces.ts'

/**
 * While a workspace has this many jobs waiting in a subscriber's queue, its further deliveries wait outside, which is fair among
 * workspaces. Two batches, so the queue does not run empty before the next one (at 250, 12,000 jobs a second ran instead of 18,000).
 */
const maxWaitingJobs = 1_000

/** A batch with fewer deliveries than this may go by an answer that is some time old; in milliseconds, after which it is read again. */
const [fewDeliveries, maxAgeMs, refreshAfterMs] = [50, 5_000, 50]

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

/**
 * Knows which workspaces have too many jobs of subscribers in the queue. Reading that costs a round trip. A small batch does not wait for it:
 * it uses the last answer, and starts a new read.
 */
export class CrowdedWorkspaces {
  readonly #services: Services
  readonly #jobNames: readonly string[]
  #known: ReadonlySet<string> = new Set()
  #readAtMs = Number.NEGATIVE_INFINITY
  #reading: Promise<unknown> | undefined

  constructor(services: Services, subscriptions: Subscriptions) {
    this.#services = services
    this.#jobNames = [...new Set(Object.values(subscriptions).map(({ job }) => job.name))]
  }

  /** Reads them now. The jobs of a paused subscriber do not hold up the others. */
  async read(db = this.#services.db): Promise<ReadonlySet<string>> {
    const { pauses } = this.#services.jobQueue
    const names = this.#jobNames.filter((name) => !pauses.has(name))
    this.#known = await findCrowdedWorkspaces(db, names, maxWaitingJobs)
    this.#readAtMs = performance.now()
    return this.#known
  }

  /** The workspaces that a batch treats as crowded. `deliveries` is the size of the batch, `tx` its transaction. */
  async forBatch(tx: Executor, deliveries: number): Promise<ReadonlySet<string>> {
    if (deliveries >= fewDeliveries || performance.now() - this.#readAtMs > maxAgeMs) return this.read(tx)
    this.refresh()
    return this.#known
  }

  /** Reads them beside other work, unless that was done a moment ago. A failure leaves the last answer, until it is too old. */
  refresh(): void {
    if (this.#reading || performance.now() - this.#readAtMs < refreshAfterMs) return
    this.#reading = this.read()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined
      })
  }

  /** Waits for a read that is under way. */
  async close(): Promise<void> {
    await this.#reading
  }
}
