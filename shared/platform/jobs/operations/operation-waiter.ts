import { setTimeout as delay } from 'node:timers/promises'
import type { Executor } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable, isOverloaded, unknownOutcomeProblem } from '#shared/platform/db/database-errors.ts'
import { findOperation, type Operation } from '#shared/platform/jobs/operations/operations.ts'
import type { JobPauses } from '#shared/platform/jobs/pauses/job-pauses.ts'

/** Milliseconds between two reads of an awaited operation: a missed notification delays an answer by at most this long. */
const pollMs = 1_000
/**
 * Milliseconds of a database outage that are tolerated: a worker may complete the operation meanwhile, so a failure would be a wrong
 * answer. A crash of the database and its recovery take some seconds.
 */
const outageMs = 20_000
/** The retry interval during an outage, in milliseconds. */
const outagePollMs = 100
/** The time limit of the last read after the deadline, in milliseconds. */
const lastReadMs = 1_000

/** What may end a wait before its time. */
interface WaitEnds {
  /** The kind of the operation's job: while it is paused, an operation that awaits an attempt is not waited for. */
  readonly job?: string
  readonly signal?: AbortSignal
}

const timeoutError = new Error('The database did not answer in time')

/** Lets requests wait for operations to complete; one listening connection of the process serves all of them. */
export class OperationWaiter {
  readonly #db: Executor
  readonly #pauses: JobPauses
  readonly #waiting = new Map<string, Set<() => void>>()
  #isStopping = false

  constructor(db: Executor, pauses: JobPauses) {
    this.#db = db
    this.#pauses = pauses
    pauses.onChange(() => this.recheckAll())
  }

  /** Receives the ids of completed operations, separated by spaces. */
  receive(payload: string): void {
    for (const id of payload.split(' ')) this.#wake(this.#waiting.get(id))
  }

  /** Makes every waiter read again, after notifications may have been missed. */
  recheckAll(): void {
    for (const waiters of this.#waiting.values()) this.#wake(waiters)
  }

  /**
   * Resolves with the completed operation, or its last known state when its job waits for a part that is away or is of a paused kind, the
   * time is up, the signal aborts or the process stops; undefined when it does not exist or was never read. Throws UNAVAILABLE, which says
   * that the work may have been done, when the database stays away.
   */
  async wait(id: string, ms: number, { job, signal }: WaitEnds = {}): Promise<Operation | undefined> {
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
        known = await this.#read(id, left + lastReadMs)
        answeredAt = performance.now()
        const isComplete = known === undefined || known.finished_at !== null || known.awaits_part !== null
        const isPaused = known?.awaits_attempt === true && job !== undefined && this.#pauses.has(job)
        if (isComplete || isPaused || left <= 0 || signal?.aborted || this.#isStopping) return known
        await woken.promise
      } catch (error) {
        if (error !== timeoutError && !isDatabaseUnavailable(error) && !isOverloaded(error)) throw error
        if (performance.now() >= deadline || signal?.aborted || this.#isStopping) return known
        if (performance.now() - answeredAt > outageMs) throw unknownOutcomeProblem(error)
        await delay(outagePollMs)
      } finally {
        clearTimeout(timer)
        waiters.delete(woken.resolve)
        if (waiters.size === 0) this.#waiting.delete(id)
      }
    }
  }

  /** Throws `timeoutError` when the database takes longer than `ms`. */
  async #read(id: string, ms: number): Promise<Operation | undefined> {
    const timeUp = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeUp.reject(timeoutError), Math.max(0, ms))
    try {
      return await Promise.race([findOperation(this.#db, id), timeUp.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends every wait with the last known state, because this process stops. */
  releaseAll(): void {
    this.#isStopping = true
    this.recheckAll()
  }

  #wake(waiters: Set<() => void> | undefined): void {
    for (const wake of waiters ?? []) wake()
  }
}
