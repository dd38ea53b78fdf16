import { overloadedProblem } from '#shared/platform/db/database-errors.ts'

/** Milliseconds that a caller waits for a connection before OVERLOADED (page "Beyond", section 2). */
const maxWaitMs = 3_000

/** The user of a connection: a workspace's id, or null for the platform's own work, which has no cap. */
export type ConnectionOwner = string | null

/** Milliseconds for which a workspace counts as a user of the database after its last statement (page "Beyond", section 2). */
const recentMs = 1_000

interface WaitingCaller {
  readonly admit: () => void
}

/** An owner of connections, and when it last began or ended to wait for one or to hold one. */
interface Use {
  readonly owner: ConnectionOwner
  at: number
}

/**
 * Shares the connections of a process among workspaces. A workspace that holds less than a quarter of them gets any free one. A workspace
 * that holds a quarter or more gets another one only while neither the platform nor a workspace with less waits, and more than a quarter is
 * free. Waiting workspaces are served round-robin, callers of one workspace first in, first out.
 */
export class ConnectionShares {
  readonly #quarter: number
  /** Connections reserved for workspaces that hold less than a quarter. */
  readonly #reserve: number
  #free: number
  readonly #held = new Map<ConnectionOwner, number>()
  /** Waiting callers by owner. The map's order is the round-robin order. */
  readonly #lists = new Map<ConnectionOwner, WaitingCaller[]>()
  #waiting = 0
  /** The workspace that used the database last, and the last other one. */
  #lastUses: readonly [Use, Use] = [
    { owner: null, at: Number.NEGATIVE_INFINITY },
    { owner: null, at: Number.NEGATIVE_INFINITY },
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
  acquire(owner: ConnectionOwner): Promise<void> | undefined {
    const isFree = this.#free > 0 && (this.#isWithinShare(owner) || (this.#waiting === 0 && this.#hasSpare()))
    if (!isFree) return this.#wait(owner)
    this.#hold(owner)
    return undefined
  }

  /**
   * Milliseconds for which a workspace other than `owner` still counts as a user of the database: for a second after its last statement
   * waited or ran. 0 if none counts.
   */
  othersUseFor(owner: ConnectionOwner): number {
    const isOther = (used: ConnectionOwner) => used !== null && used !== owner
    if (this.#held.keys().some(isOther) || this.#lists.keys().some(isOther)) return recentMs
    const [last, other] = this.#lastUses
    return Math.max(0, recentMs - (performance.now() - (last.owner === owner ? other : last).at))
  }

  release(owner: ConnectionOwner): void {
    this.#noteUse(owner)
    this.#free += 1
    const held = (this.#held.get(owner) ?? 0) - 1
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
    if (this.#waiting > 0) this.#admit()
  }

  #isWithinShare(owner: ConnectionOwner): boolean {
    return owner === null || (this.#held.get(owner) ?? 0) < this.#quarter
  }

  /** Whether a workspace may have more than its quarter now. */
  #hasSpare(): boolean {
    return this.#free > this.#reserve
  }

  #noteUse(owner: ConnectionOwner): void {
    if (owner === null) return
    const [last] = this.#lastUses
    const at = performance.now()
    if (last.owner === owner) last.at = at
    else this.#lastUses = [{ owner, at }, last]
  }

  #hold(owner: ConnectionOwner): void {
    this.#free -= 1
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1)
  }

  #wait(owner: ConnectionOwner): Promise<void> {
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

  #remove(owner: ConnectionOwner, list: readonly WaitingCaller[]): void {
    this.#waiting -= 1
    if (list.length === 0) this.#lists.delete(owner)
  }

  #admit(): void {
    while (this.#free > 0 && this.#waiting > 0) {
      const owner = this.#nextOwner()
      if (owner === undefined) return
      const list = this.#lists.get(owner) as WaitingCaller[]
      const next = list.shift() as WaitingCaller
      // The owner moves behind the other waiting owners.
      this.#lists.delete(owner)
      if (list.length > 0) this.#lists.set(owner, list)
      this.#waiting -= 1
      next.admit()
    }
  }

  /** The next owner: the first one within its share, else the first of all while connections are spare. */
  #nextOwner(): ConnectionOwner | undefined {
    for (const owner of this.#lists.keys()) if (this.#isWithinShare(owner)) return owner
    if (!this.#hasSpare()) return undefined
    const [first] = this.#lists.keys()
    return first
  }
}
