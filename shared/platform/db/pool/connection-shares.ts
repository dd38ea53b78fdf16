import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { shareOf, type WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Milliseconds that a caller waits for a connection before OVERLOADED (docs/contract/limits.md#connections). */
const maxWaitMs = 3_000

/** Milliseconds for which a share counts as a user of the database after its last statement (docs/contract/limits.md#searches). */
const recentMs = 1_000

interface WaitingCaller {
  readonly admit: () => void
}

/** A share of connections, and when it last ended to wait for one or to hold one. */
interface Use {
  readonly share: WorkOwner
  at: number
}

/**
 * Shares the connections of a process among workspaces. A workspace that holds less than a quarter of them gets any free one. A workspace
 * that holds a quarter or more gets another one only while neither the platform nor a workspace with less waits, and more than a quarter is
 * free. The connections of workspaces with the same share count together. Waiting shares are served round-robin, as are the workspaces of one
 * share; callers of one workspace first in, first out.
 */
export class ConnectionShares {
  readonly #quarter: number
  /** Connections reserved for workspaces that hold less than a quarter. */
  readonly #reserve: number
  #free: number
  /** Held connections by share. */
  readonly #held = new Map<WorkOwner, number>()
  /** Waiting callers by owner. The map's order is the round-robin order. */
  readonly #lists = new Map<WorkOwner, WaitingCaller[]>()
  #waiting = 0
  /** The share that used the database last, and the last other one. */
  #lastUses: readonly [Use, Use] = [
    { share: null, at: Number.NEGATIVE_INFINITY },
    { share: null, at: Number.NEGATIVE_INFINITY },
  ]
  readonly #onWait: (ms: number) => void

  /** `onWait` is called with the milliseconds that a caller has waited. */
  constructor(connections: number, onWait: (ms: number) => void) {
    this.#onWait = onWait
    this.#free = connections
    this.#quarter = Math.max(1, Math.floor(connections / 4))
    this.#reserve = Math.floor(connections / 4)
  }

  /** The number of callers that wait for a connection. */
  get waiting(): number {
    return this.#waiting
  }

  /** Reserves a connection: undefined when one was free, else a promise that rejects with OVERLOADED after 3 s. */
  acquire(owner: WorkOwner): Promise<void> | undefined {
    const isFree = this.#free > 0 && (this.#isWithinShare(owner) || (this.#waiting === 0 && this.#hasSpare()))
    if (!isFree) return this.#wait(owner)
    this.#hold(owner)
    return undefined
  }

  /**
   * Milliseconds for which a workspace of another share still counts as a user of the database: for a second after its last statement
   * waited or ran. 0 if none counts.
   */
  othersUseFor(share: string): number {
    const isOther = (used: WorkOwner) => used !== null && shareOf(used) !== share
    if (this.#held.keys().some(isOther) || this.#lists.keys().some(isOther)) return recentMs
    const [last, other] = this.#lastUses
    return Math.max(0, recentMs - (performance.now() - (last.share === share ? other : last).at))
  }

  release(owner: WorkOwner): void {
    this.#noteUse(owner)
    this.#free += 1
    const share = shareOf(owner)
    const held = (this.#held.get(share) ?? 0) - 1
    if (held > 0) this.#held.set(share, held)
    else this.#held.delete(share)
    if (this.#waiting > 0) this.#admit()
  }

  #isWithinShare(owner: WorkOwner): boolean {
    return owner === null || (this.#held.get(shareOf(owner)) ?? 0) < this.#quarter
  }

  /** Whether a workspace may have more than its quarter now. */
  #hasSpare(): boolean {
    return this.#free > this.#reserve
  }

  #noteUse(owner: WorkOwner): void {
    if (owner === null) return
    const [last] = this.#lastUses
    const share = shareOf(owner)
    const at = performance.now()
    if (last.share === share) last.at = at
    else this.#lastUses = [{ share, at }, last]
  }

  #hold(owner: WorkOwner): void {
    this.#free -= 1
    const share = shareOf(owner)
    this.#held.set(share, (this.#held.get(share) ?? 0) + 1)
  }

  #wait(owner: WorkOwner): Promise<void> {
    return new Promise((resolve, reject) => {
      const list = this.#lists.get(owner) ?? []
      this.#lists.set(owner, list)
      const leave = () => {
        list.splice(list.indexOf(waiting), 1)
        this.#remove(owner, list)
        this.#noteUse(owner)
        this.#onWait(maxWaitMs)
        reject(overloadedProblem(`No connection to the database was free for ${maxWaitMs / 1_000} s; try again soon`))
      }
      const limit = setTimeout(leave, maxWaitMs)
      const since = performance.now()
      const waiting = {
        admit: () => {
          clearTimeout(limit)
          this.#onWait(performance.now() - since)
          this.#hold(owner)
          resolve()
        },
      }
      list.push(waiting)
      this.#waiting += 1
    })
  }

  #remove(owner: WorkOwner, list: readonly WaitingCaller[]): void {
    this.#waiting -= 1
    if (list.length === 0) this.#lists.delete(owner)
  }

  #admit(): void {
    while (this.#free > 0 && this.#waiting > 0) {
      const owner = this.#nextOwner()
      if (owner === undefined) return
      const list = this.#lists.get(owner) as WaitingCaller[]
      const next = list.shift() as WaitingCaller
      this.#moveBehind(owner)
      if (list.length === 0) this.#lists.delete(owner)
      this.#waiting -= 1
      next.admit()
    }
  }

  /** Moves the workspaces of the owner's share behind the others, and the owner behind all. */
  #moveBehind(owner: WorkOwner): void {
    const share = shareOf(owner)
    const ofShare = [...this.#lists].filter(([other]) => shareOf(other) === share && other !== owner)
    const own = this.#lists.get(owner) as WaitingCaller[]
    for (const [other, list] of [...ofShare, [owner, own] as const]) {
      this.#lists.delete(other)
      this.#lists.set(other, list)
    }
  }

  /** The next owner: the first one within its share, else the first of all while connections are spare. */
  #nextOwner(): WorkOwner | undefined {
    for (const owner of this.#lists.keys()) if (this.#isWithinShare(owner)) return owner
    if (!this.#hasSpare()) return undefined
    const [first] = this.#lists.keys()
    return first
  }
}
