import { jobs } from '#shared/jobs.ts'
import { findDueQueues } from '#shared/queue/due-queues.ts'
import type { Pool } from '#shared/queue/job.ts'
import type { WorkerServices } from '#workers/attempt.ts'
import { Scheduler } from '#workers/due/scheduler.ts'
import { Dispatcher } from '#workers/events/dispatcher.ts'
import { handlers } from '#workers/handlers.ts'
import { Loop } from '#workers/loop.ts'

/** The pool that hands changes of records on. */
const dispatchPool: Pool = 'flows'

/** The pool that files what falls due. */
const duePool: Pool = 'schedule'

/** A missed wake-up and a job that starts later are found after this long at most. */
const pollMs = 2_000

/** Runs the loops of some pools in this process. */
export class Pools {
  readonly #services: WorkerServices
  readonly #queues: readonly string[]
  readonly #loops: readonly (Loop | Dispatcher | Scheduler)[]
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #again = false
  #isStopped = false

  constructor(pools: readonly Pool[], services: WorkerServices) {
    requireHandlers()
    this.#services = services
    const chosen = handlers.filter(({ job }) => pools.includes(job.pool))
    this.#queues = chosen.map(({ job }) => job.name)
    const loops = chosen.map((handler) => new Loop(handler, services))
    this.#loops = [
      ...loops,
      ...(pools.includes(dispatchPool) ? [new Dispatcher(services)] : []),
      ...(pools.includes(duePool) ? [new Scheduler(services)] : []),
    ]
  }

  start(): void {
    for (const loop of this.#loops) loop.start()
    this.#timer = setInterval(() => this.#poll(), pollMs)
    this.#poll()
  }

  /** Hears that queues were filled: their names, or those of their gates, separated by spaces. */
  heard(names: string): void {
    this.#wake(names.split(' '))
  }

  /** Lets every loop look again for which there may be work, after notifications may have been missed. */
  missed(): void {
    for (const loop of this.#loops) if (!(loop instanceof Loop)) loop.wake()
    this.#poll()
  }

  get idle(): boolean {
    return !this.#polling && this.#loops.every((loop) => loop.idle)
  }

  /** Whether it has been told to take no more work. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#polling
    await Promise.all(this.#loops.map((loop) => loop.stop(graceMs)))
  }

  #wake(names: readonly string[]): void {
    for (const loop of this.#loops) if (names.some((name) => loop.goesBy(name))) loop.wake()
  }

  /** Asks for all queues together which of them are worth a look: a fetch from each would be a hundred times the cost of an idle process. */
  #poll(): void {
    this.#again = true
    if (this.#polling || this.#isStopped) return
    this.#polling = this.#look().finally(() => {
      this.#polling = undefined
      if (this.#again) this.#poll()
    })
  }

  async #look(): Promise<void> {
    const { db, log } = this.#services
    this.#again = false
    try {
      this.#wake(await findDueQueues(db, this.#queues))
    } catch (error) {
      log.warn({ err: error }, 'could not look for jobs')
    }
  }
}

/** Refuses to start when a declared job has no handler, or two, or a handler no declaration. */
export function requireHandlers(): void {
  const handled = handlers.map(({ job }) => job.name).sort()
  const declared = jobs.map(({ name }) => name).sort()
  if (handled.join() === declared.join()) return
  throw new Error(`Declared jobs (${declared.join(', ')}) and handlers (${handled.join(', ')}) differ`)
}
