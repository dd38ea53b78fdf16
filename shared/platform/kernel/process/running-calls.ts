import { shareOf, type WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Running calls of this process, those that compute included: all, and those of each share. */
let running = 0
const runningByShare = new Map<string, number>()

/** The number of running calls of all shares, and of those without one. */
export const runningCalls = (): number => running

/** The number of running calls of a share; undefined when none is counted. */
export const runningCallsOf = (share: string): number | undefined => runningByShare.get(share)

/**
 * A request or an attempt, which counts as running from the first `countFor` to `end`. While calls of others run, computations of a share
 * leave most of the thread to them. A call without an owner is one of others for every share.
 */
export class RunningCall {
  #owner: WorkOwner | undefined
  #hasEnded = false

  /** For whom it counts; null until that is known. */
  get owner(): WorkOwner {
    return this.#owner ?? null
  }

  /** Counts the call for an owner, and no longer for an earlier one. */
  countFor(owner: WorkOwner): void {
    if (this.#hasEnded || owner === this.#owner) return
    if (this.#owner !== undefined) count(this.#owner, -1)
    this.#owner = owner
    count(owner, 1)
  }

  /** Awaits something, such as an operation. Meanwhile the call does not count as running, because it needs no thread. */
  async waitUncounted<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#owner === undefined) return wait()
    count(this.#owner, -1)
    try {
      return await wait()
    } finally {
      count(this.#owner, 1)
    }
  }

  end(): void {
    if (!this.#hasEnded && this.#owner !== undefined) count(this.#owner, -1)
    this.#hasEnded = true
  }
}

function count(owner: WorkOwner, change: 1 | -1): void {
  running += change
  if (owner === null) return
  const share = shareOf(owner)
  noteCall(share)
  const left = (runningByShare.get(share) ?? 0) + change
  if (left === 0) runningByShare.delete(share)
  else runningByShare.set(share, left)
}

/**
 * Milliseconds for which a share still counts as a caller after its last call began or ended
 * (docs/contract/limits.md#shares-of-workspaces).
 */
const recentMs = 1_000

interface LastCall {
  readonly share: string | undefined
  at: number
}

/** The share that called last, and the last other one. */
let lastCalls: readonly [LastCall, LastCall] = [
  { share: undefined, at: Number.NEGATIVE_INFINITY },
  { share: undefined, at: Number.NEGATIVE_INFINITY },
]

function noteCall(share: string): void {
  const [last] = lastCalls
  const at = performance.now()
  if (last.share === share) last.at = at
  else lastCalls = [{ share, at }, last]
}

/** Whether another share has a running call, or had one within the last second. */
export function othersCalled(share: string): boolean {
  if (runningByShare.size > (runningByShare.has(share) ? 1 : 0)) return true
  const [last, other] = lastCalls
  return performance.now() - (last.share === share ? other : last).at < recentMs
}
