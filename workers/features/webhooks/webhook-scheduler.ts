import type { Services } from '#shared/core/scope/scope.ts'
import { queueWebhooks } from '#shared/features/webhooks/deliveries/runs-store.ts'
import { sendDeliveriesJob } from '#shared/features/webhooks/jobs.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** Polling interval in milliseconds: a delivery that is due begins at most this long after its time. */
const pollMs = 500

/** Maximum webhooks that are enqueued in one transaction. */
const batchSize = 500

/** Nothing may leave this installation, so what is due stays so. */
class Held extends Error {}

type SchedulerServices = Services & { readonly db: Executor }

/**
 * Enqueues the jobs of webhooks that have events to look at, or deliveries that are due. It polls, so that nothing that numbers events has
 * to know webhooks (docs/decisions/webhooks.md). Several processes may run it; row locks keep them from taking the same rows.
 */
export class WebhookScheduler {
  readonly #services: SchedulerServices
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isStopped = false

  constructor(services: SchedulerServices) {
    this.#services = services
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), pollMs)
  }

  /** Enqueues what is due now. */
  wake(): void {
    if (this.#isStopped) return
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Work is found by polling, so no signal wakes the scheduler. */
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
    const { db, egress, jobQueue, log, now } = this.#services
    try {
      for (let queued = batchSize; queued === batchSize && !this.#isStopped; ) {
        if (jobQueue.pauses.has(sendDeliveriesJob.name)) return
        queued = await db.transaction(async (tx) => {
          const webhooks = await tx.query(queueWebhooks({ now: now(), limit: batchSize }))
          const requests = webhooks.map(({ workspace_id, id }) => ({
            id: newId(),
            origin: { workspaceId: workspace_id, cause: platformCause(newId()) },
            payload: { workspaceId: workspace_id, webhookId: id },
          }))
          if (requests.length > 0 && (await egress.isHeld())) throw new Held()
          if (requests.length > 0) await enqueueAll(jobQueue, tx, sendDeliveriesJob, requests)
          return requests.length
        })
      }
    } catch (error) {
      if (!(error instanceof Held) && !countRefusal(error)) log.warn({ err: error }, 'could not enqueue webhooks')
    }
  }
}
