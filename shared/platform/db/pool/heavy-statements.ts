import pg from 'pg'
import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Milliseconds after which a statement counts as heavy, so that it needs the lock of its workspace. */
const quickMs = 50

/** Milliseconds that a heavy statement may run, and that one may wait for the lock (page "Beyond", section 2). */
const [limitMs, maxWaitMs] = [5_000, 3_000]

/** A running statement. `begin` is called when it is sent, with the function that cancels it in the database. */
export interface RunningStatement {
  begin(cancel: () => void): void
  /** Whether a cancel request was sent: the connection must not be reused, since the request may arrive late. */
  readonly isCancelled: boolean
}

type Work<T> = (running: RunningStatement) => Promise<T>

/** The lock of one workspace's heavy statements. */
interface HeavyLock {
  isHeld: boolean
  /** Statements that run or wait. */
  statements: number
  readonly waiting: (() => void)[]
}

/** The failure of a statement that exceeded its time limit. */
const tooLong = (named: string) =>
  problem('VALIDATION_ERROR', `${named} asks for more than the database finds in ${limitMs / 1_000} s; ask for less`)

/** Runs a heavy statement without the lock. Throws VALIDATION_ERROR that names `named` after 5 s. */
export async function runWithTimeLimit<T>(named: string, work: Work<T>): Promise<T> {
  let limit: NodeJS.Timeout | undefined
  const running = { isCancelled: false, begin }
  function begin(cancel: () => void): void {
    limit = setTimeout(() => {
      running.isCancelled = true
      cancel()
    }, limitMs)
  }
  try {
    return await work(running)
  } catch (error) {
    throw running.isCancelled ? tooLong(named) : error
  } finally {
    clearTimeout(limit)
  }
}

/**
 * Runs one heavy statement of each workspace at a time. A statement that ends within 50 ms needs no lock. After 50 ms it takes the lock;
 * when another statement holds it, the statement is cancelled and restarted once it has the lock.
 */
export class HeavyStatementLimiter {
  readonly #locks = new Map<string, HeavyLock>()

  /**
   * Runs a statement; `work` may be called twice. Throws OVERLOADED after waiting 3 s for the lock, and VALIDATION_ERROR that names `named`
   * after running 5 s.
   */
  async run<T>(workspaceId: string, named: string, work: Work<T>): Promise<T> {
    const lock = this.#locks.get(workspaceId) ?? { isHeld: false, statements: 0, waiting: [] }
    this.#locks.set(workspaceId, lock)
    lock.statements += 1
    try {
      const first = lock.isHeld ? undefined : await tryQuickly(lock, named, work)
      if (first) return first.value
      await acquire(lock)
      try {
        return await runWithTimeLimit(named, work)
      } finally {
        release(lock)
      }
    } finally {
      lock.statements -= 1
      if (lock.statements === 0) this.#locks.delete(workspaceId)
    }
  }
}

/**
 * Runs a statement, which takes the lock after 50 ms. When another statement holds the lock then, cancels this one and returns undefined.
 */
async function tryQuickly<T>(lock: HeavyLock, named: string, work: Work<T>): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined
  let outcome: 'quick' | 'heavy' | 'yields' | 'too long' = 'quick'
  const running = { isCancelled: false, begin }
  function begin(cancel: () => void): void {
    const end = (reason: 'yields' | 'too long') => {
      outcome = reason
      running.isCancelled = true
      cancel()
    }
    timer = setTimeout(() => {
      if (lock.isHeld) return end('yields')
      lock.isHeld = true
      outcome = 'heavy'
      timer = setTimeout(() => end('too long'), limitMs - quickMs)
    }, quickMs)
  }
  const isOutcome = (...outcomes: (typeof outcome)[]) => outcomes.includes(outcome)
  try {
    return { value: await work(running) }
  } catch (error) {
    if (isOutcome('yields')) return undefined
    throw isOutcome('too long') ? tooLong(named) : error
  } finally {
    clearTimeout(timer)
    if (isOutcome('heavy', 'too long')) release(lock)
  }
}

/** Resolves when the caller holds the lock. */
function acquire(lock: HeavyLock): Promise<void> {
  if (!lock.isHeld) {
    lock.isHeld = true
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const admit = () => {
      clearTimeout(limit)
      resolve()
    }
    const limit = setTimeout(() => {
      lock.waiting.splice(lock.waiting.indexOf(admit), 1)
      reject(overloadedProblem(`Other searches and reports of this workspace took ${maxWaitMs / 1_000} s; try again soon`))
    }, maxWaitMs)
    lock.waiting.push(admit)
  })
}

/** Passes the lock to the first waiting statement. */
function release(lock: HeavyLock): void {
  const next = lock.waiting.shift()
  if (next) next()
  else lock.isHeld = false
}

/** Internals of the driver's client (pg 8) that a cancel request needs. */
interface ClientInternals {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  readonly connection: {
    connect(port: number | string, host?: string): void
    cancel(processID: number, secretKey: number): void
    on(event: 'connect' | 'error', listener: () => void): void
  }
}

/**
 * Sends a cancel request for a connection's running statement, which then fails with 57014. If the request is lost, the statement runs on.
 */
export function cancelStatement(url: string, client: pg.ClientBase): void {
  const { processID, secretKey } = client as unknown as ClientInternals
  const { connection, host, port } = new pg.Client({ connectionString: url }) as unknown as ClientInternals
  connection.on('error', () => undefined)
  connection.on('connect', () => connection.cancel(processID, secretKey))
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
}
