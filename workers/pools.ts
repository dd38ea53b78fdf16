import { jobs } from '#shared/jobs.ts'
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

/** Runs the loops of some pools in this process. */
export class Pools {
  readonly #loops: readonly (Loop | Dispatcher | Scheduler)[]
  #isStopped = false

  constructor(pools: readonly Pool[], services: WorkerServices) {
    requireHandlers()
    const chosen = handlers.filter(({ job }) => pools.includes(job.pool))
    const loops = chosen.map((handler) => new Loop(handler, services))
    this.#loops = [
      ...loops,
      ...(pools.includes(dispatchPool) ? [new Dispatcher(services)] : []),
      ...(pools.includes(duePool) ? [new Scheduler(services)] : []),
    ]
  }

  start(): void {
    for (const loop of this.#loops) loop.start()
  }

  /** Hears that queues were filled: their names, or those of their gates, separated by spaces. */
  heard(names: string): void {
    const filled = names.split(' ')
    for (const loop of this.#loops) if (filled.some((name) => loop.goesBy(name))) loop.wake()
  }

  /** Lets every loop look again, after notifications may have been missed. */
  missed(): void {
    for (const loop of this.#loops) loop.wake()
  }

  get idle(): boolean {
    return this.#loops.every((loop) => loop.idle)
  }

  /** Whether it has been told to take no more work. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#loops.map((loop) => loop.stop(graceMs)))
  }
}

/** Refuses to start when a declared job has no handler, or two, or a handler no declaration. */
export function requireHandlers(): void {
  const handled = handlers.map(({ job }) => job.name).sort()
  const declared = jobs.map(({ name }) => name).sort()
  if (handled.join() === declared.join()) return
  throw new Error(`Declared jobs (${declared.join(', ')}) and handlers (${handled.join(', ')}) differ`)
}
