import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Milliseconds after which a statement counts as heavy, so that it needs the lane of its workspace. */
const quickMs = 50

/** Milliseconds that a heavy statement may run, and that one waits for its turn (page "Beyond", section 2). */
const [limitMs, patienceMs] = [5_000, 3_000]

/** A statement on its way. `begin` is called when it is sent, with what makes the database end it. */
export interface RunningStatement {
  begin(cancel: () => void): void
  /** Whether the database was asked to end it: the connection must not be used again, since that may come late. */
  readonly isCancelled: boolean
}

type Work<T> = (running: RunningStatement) => Promise<T>

/** The heavy statements of one workspace. */
interface Lane {
  isHeld: boolean
  /** Statements that run or wait. */
  inside: number
  readonly waiting: (() => void)[]
}

/** The statement took longer than it may. */
const tooLong = (named: string) =>
  problem('VALIDATION_ERROR', `${named} asks for more than the database finds in ${limitMs / 1_000} s; ask for less`)

/** Runs a heavy statement without a lane. VALIDATION_ERROR that says what is `named` when it takes more than 5 s. */
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
 * Lets one heavy statement of each workspace run at a time. Whether a statement is heavy shows when it runs: what ends within 50 ms needs no
 * lane. One that takes longer takes the lane; where another has it, the statement is cancelled and begun again in its turn.
 */
export class HeavyStatementLimiter {
  readonly #lanes = new Map<string, Lane>()

  /**
   * Runs a statement; `work` may be called twice. OVERLOADED when it waits 3 s for its turn, VALIDATION_ERROR that says what is `named` when
   * it takes more than 5 s.
   */
  async run<T>(workspaceId: string, named: string, work: Work<T>): Promise<T> {
    const lane = this.#lanes.get(workspaceId) ?? { isHeld: false, inside: 0, waiting: [] }
    this.#lanes.set(workspaceId, lane)
    lane.inside += 1
    try {
      const first = lane.isHeld ? undefined : await tryQuickly(lane, named, work)
      if (first) return first.value
      await turnIn(lane)
      try {
        return await runWithTimeLimit(named, work)
      } finally {
        leave(lane)
      }
    } finally {
      lane.inside -= 1
      if (lane.inside === 0) this.#lanes.delete(workspaceId)
    }
  }
}

/** Runs a statement, which takes the lane when it is heavy; undefined when another had it. */
async function tryQuickly<T>(lane: Lane, named: string, work: Work<T>): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined
  let outcome: 'quick' | 'heavy' | 'gives way' | 'too long' = 'quick'
  const running = { isCancelled: false, begin }
  function begin(cancel: () => void): void {
    const end = (because: 'gives way' | 'too long') => {
      outcome = because
      running.isCancelled = true
      cancel()
    }
    timer = setTimeout(() => {
      if (lane.isHeld) return end('gives way')
      lane.isHeld = true
      outcome = 'heavy'
      timer = setTimeout(() => end('too long'), limitMs - quickMs)
    }, quickMs)
  }
  const isNow = (...those: (typeof outcome)[]) => those.includes(outcome)
  try {
    return { value: await work(running) }
  } catch (error) {
    if (isNow('gives way')) return undefined
    throw isNow('too long') ? tooLong(named) : error
  } finally {
    clearTimeout(timer)
    if (isNow('heavy', 'too long')) leave(lane)
  }
}

/** Resolves when the caller has the lane. */
function turnIn(lane: Lane): Promise<void> {
  if (!lane.isHeld) {
    lane.isHeld = true
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const admit = () => {
      clearTimeout(limit)
      resolve()
    }
    const limit = setTimeout(() => {
      lane.waiting.splice(lane.waiting.indexOf(admit), 1)
      reject(overloadedProblem(`Other searches and reports of this workspace took ${patienceMs / 1_000} s; try again soon`))
    }, patienceMs)
    lane.waiting.push(admit)
  })
}

/** Hands the lane to whoever waits for it first. */
function leave(lane: Lane): void {
  const next = lane.waiting.shift()
  if (next) next()
  else lane.isHeld = false
}
