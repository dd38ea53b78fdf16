import type { Services } from '#shared/access/scope.ts'
import type { Executor } from '#shared/db/database.ts'
import { jobs } from '#shared/jobs.ts'
import type { Pool } from '#shared/queue/job.ts'
import { handlers } from '#workers/handlers.ts'
import { Loop } from '#workers/loop.ts'

/** Runs the loops of some pools in this process. */
export class Pools {
  readonly #loops: ReadonlyMap<string, Loop>

  constructor(pools: readonly Pool[], services: Services & { db: Executor }) {
    requireHandlers()
    const chosen = handlers.filter(({ job }) => pools.includes(job.pool))
    this.#loops = new Map(chosen.map((handler) => [handler.job.name, new Loop(handler, services)]))
  }

  start(): void {
    for (const loop of this.#loops.values()) loop.start()
  }

  /** Hears that queues were filled: their names, separated by spaces. */
  heard(queues: string): void {
    for (const queue of queues.split(' ')) this.#loops.get(queue)?.wake()
  }

  /** Lets every loop look again, after notifications may have been missed. */
  missed(): void {
    for (const loop of this.#loops.values()) loop.wake()
  }

  get idle(): boolean {
    return [...this.#loops.values()].every((loop) => loop.idle)
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop(graceMs)))
  }
}

/** Refuses to start when a declared job has no handler, or two, or a handler no declaration. */
export function requireHandlers(): void {
  const handled = handlers.map(({ job }) => job.name).sort()
  const declared = jobs.map(({ name }) => name).sort()
  if (handled.join() === declared.join()) return
  throw new Error(`Declared jobs (${declared.join(', ')}) and handlers (${handled.join(', ')}) differ`)
}
