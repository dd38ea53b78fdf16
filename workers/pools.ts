import { dueKinds, maintenanceKind, subscriptions } from '#shared/features.ts'
import type { RunningJob } from '#shared/platform/db/processes/store.ts'
import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import { findDueQueues } from '#shared/platform/jobs/pgboss/due-queues.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { runAttempt, type WorkerServices } from '#workers/core/scope/attempt.ts'
import { createWorkspaceShares } from '#workers/core/workspaces/shares.ts'
import { WebhookScheduler } from '#workers/features/webhooks/webhook-scheduler.ts'
import { DueScheduler } from '#workers/platform/due/scheduler.ts'
import { EventNumbering } from '#workers/platform/events/event-numbering.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import { JobLoop } from '#workers/platform/jobs/job-loop.ts'

/** The pool that numbers and delivers events. */
const numberingPool: WorkerPool = 'flows'

/** The pool that enqueues due work. */
const duePool: WorkerPool = 'schedule'

/** The pool that sends events to webhooks. */
const webhookPool: WorkerPool = 'webhooks'

/** Polling interval in milliseconds: the maximum delay of a job whose signal was missed, or whose start lies in the future. */
const pollMs = 2_000

/** Runs the loops of the given pools in this process. */
export class Pools {
  readonly #services: WorkerServices
  /** One loop for each queue. */
  readonly #loops: readonly JobLoop[]
  /** Loops that take their work from the inbox of events, the due tasks and the webhooks instead of a queue. */
  readonly #others: readonly (EventNumbering | DueScheduler | WebhookScheduler)[]
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #isStopped = false

  constructor(pools: readonly WorkerPool[], handlers: readonly AnyHandler[], services: WorkerServices) {
    this.#services = services
    const shares = createWorkspaceShares(services)
    this.#loops = handlers.map((handler) => {
      const { gate } = handler.job
      const peers = gate && (() => this.#loops.filter((loop) => loop.handlesSignal(gate.name)))
      return new JobLoop(handler.job, (row, signal) => runAttempt(handler, row, signal, services), services, shares, peers)
    })
    this.#others = [
      ...(pools.includes(numberingPool) ? [new EventNumbering(services, subscriptions)] : []),
      ...(pools.includes(duePool) ? [new DueScheduler(services, dueKinds, maintenanceKind)] : []),
      ...(pools.includes(webhookPool) ? [new WebhookScheduler(services)] : []),
    ]
  }

  start(): void {
    // Resumed kinds may have jobs.
    this.#services.jobQueue.pauses.onChange(() => this.pollAll())
    for (const loop of this.#all) loop.start()
    this.#timer = setInterval(() => this.#poll(), pollMs)
    this.#poll()
  }

  /** Receives the names of filled queues or their gates, separated by spaces. */
  receive(names: string): void {
    this.#wake(names.split(' '))
  }

  /** Wakes every loop that may have work, after notifications may have been missed. */
  pollAll(): void {
    for (const other of this.#others) other.wake()
    this.#poll()
  }

  get idle(): boolean {
    return !this.#polling && this.#all.every((loop) => loop.idle)
  }

  /** The jobs that run. */
  get running(): readonly RunningJob[] {
    return this.#loops.flatMap((loop) => loop.running)
  }

  /** Whether `stop` was called. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await Promise.all([this.#polling, ...this.#all.map((loop) => loop.stop(graceMs))])
  }

  get #all(): readonly (JobLoop | EventNumbering | DueScheduler | WebhookScheduler)[] {
    return [...this.#loops, ...this.#others]
  }

  #wake(names: readonly string[]): void {
    for (const loop of this.#all) {
      const handled = names.filter((name) => loop.handlesSignal(name))
      if (handled.length > 0) loop.wake(handled)
    }
  }

  /** Wakes the loops whose queues have due jobs, found in one query: one fetch per loop would be 23 queries a second in an idle process. */
  #poll(): void {
    this.#polling ??= this.#wakeDueQueues().finally(() => {
      this.#polling = undefined
    })
  }

  async #wakeDueQueues(): Promise<void> {
    const { db, log } = this.#services
    const queues = this.#loops.map(({ queue }) => queue)
    try {
      this.#wake(await findDueQueues(db, queues))
    } catch (error) {
      if (!countRefusal(error)) log.warn({ err: error }, 'could not poll for jobs')
    }
  }
}
