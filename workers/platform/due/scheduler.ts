import type { Executor } from '#shared/platform/db/database.ts'
import type { DueKind } from '#shared/platform/due/due-kind.ts'
import { enqueueDue } from '#shared/platform/due/enqueue-due.ts'
import { type MaintenanceKind, scheduleMaintenance } from '#shared/platform/due/maintenance.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** Polling interval in milliseconds: due work starts at most this long after its time. */
const pollMs = 1_000

/** Maximum due tasks that are enqueued in one transaction. */
const batchSize = 500

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly log: Logger
  readonly now: () => Date
}

/** Enqueues the jobs of due work in batches. Several processes may run it; row locks keep them from taking the same rows. */
export class DueScheduler {
  readonly #services: Services
  readonly #kinds: readonly DueKind<unknown>[]
  readonly #maintenance: MaintenanceKind
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #wakeRequested = false
  #isMaintenanceScheduled = false
  #isStopped = false

  constructor(services: Services, kinds: readonly DueKind<unknown>[], maintenance: MaintenanceKind) {
    this.#services = services
    this.#maintenance = maintenance
    this.#kinds = kinds
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
    this.wake()
  }

  /** Enqueues what is due now. */
  wake(): void {
    this.#wakeRequested = true
    if (this.#working || this.#isStopped) return
    this.#working = this.#work().finally(() => {
      this.#working = undefined
      if (this.#wakeRequested) this.wake()
    })
  }

  /** Due work is found by polling, so no signal wakes the scheduler. */
  handlesSignal(): boolean {
    return false
  }

  /** Whether no batch is in progress. */
  get idle(): boolean {
    return !this.#working
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#working
  }

  async #work(): Promise<void> {
    const { db, log } = this.#services
    while (this.#wakeRequested && !this.#isStopped) {
      this.#wakeRequested = false
      try {
        if (!this.#isMaintenanceScheduled) await scheduleMaintenance(db, this.#maintenance, this.#services.now())
        this.#isMaintenanceScheduled = true
        this.#wakeRequested = (await enqueueDue(this.#services, this.#kinds, batchSize)) === batchSize || this.#wakeRequested
      } catch (error) {
        if (!countRefusal(error)) log.warn({ err: error }, 'could not enqueue due work')
      }
    }
    this.#wakeRequested = false
  }
}
