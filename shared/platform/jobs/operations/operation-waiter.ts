import { setTimeout as delay } from 'node:timers/promises'
import type { Executor } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable, isOverloaded } from '#shared/platform/db/database-errors.ts'
import { findOperation, type Operation } from '#shared/platform/jobs/operations/operations.ts'

/** A missed notification costs at most this long, never an answer. */
const pollMs = 1_000
/** A database that is away for so long is waited for: what was begun goes on, so a failure would not be the answer. */
const outageMs = 8_000
/** How often one that is away is asked. */
const outagePollMs = 100
/** How long a look may take when the time is up. */
const lastLookMs = 1_000

const late = new Error('The database did not answer in time')

/** Lets requests wait for operations to settle; one listening connection of the process serves all of them. */
export class OperationWaiter {
  readonly #db: Executor
  readonly #waiting = new Map<string, Set<() => void>>()
  #isStopping = false

  constructor(db: Executor) {
    this.#db = db
  }

  /** Hears that operations settled: their ids, separated by spaces. */
  receive(payload: string): void {
    for (const id of payload.split(' ')) this.#wake(this.#waiting.get(id))
  }

  /** Lets everybody look again, after notifications may have been missed. */
  recheckAll(): void {
    for (const waiters of this.#waiting.values()) this.#wake(waiters)
  }

  /**
   * Resolves with the operation once it has settled, or as it stood last when the time is up, the signal aborts or the process stops;
   * undefined when nothing is known of it. Throws when the database stays away.
   */
  async wait(id: string, ms: number, signal?: AbortSignal): Promise<Operation | undefined> {
    const deadline = performance.now() + ms
    let answeredAt = performance.now()
    let known: Operation | undefined
    for (;;) {
      const woken = Promise.withResolvers<void>()
      const waiters = this.#waiting.get(id) ?? new Set()
      this.#waiting.set(id, waiters.add(woken.resolve))
      const left = deadline - performance.now()
      const timer = setTimeout(woken.resolve, Math.max(0, Math.min(pollMs, left)))
      signal?.addEventListener('abort', () => woken.resolve(), { once: true })
      try {
        known = await this.#look(id, left + lastLookMs)
        answeredAt = performance.now()
        const settled = known === undefined || known.finished_at !== null
        if (settled || left <= 0 || signal?.aborted || this.#isStopping) return known
        await woken.promise
      } catch (error) {
        if (error !== late && !isDatabaseUnavailable(error) && !isOverloaded(error)) throw error
        if (performance.now() >= deadline || signal?.aborted || this.#isStopping) return known
        if (performance.now() - answeredAt > outageMs) throw error
        await delay(outagePollMs)
      } finally {
        clearTimeout(timer)
        waiters.delete(woken.resolve)
        if (waiters.size === 0) this.#waiting.delete(id)
      }
    }
  }

  /** Throws `late` when the database takes longer to say. */
  async #look(id: string, ms: number): Promise<Operation | undefined> {
    const timeUp = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeUp.reject(late), Math.max(0, ms))
    try {
      return await Promise.race([findOperation(this.#db, id), timeUp.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Lets everybody go with what is known: this process stops. */
  releaseAll(): void {
    this.#isStopping = true
    this.recheckAll()
  }

  #wake(waiters: Set<() => void> | undefined): void {
    for (const wake of waiters ?? []) wake()
  }
}
