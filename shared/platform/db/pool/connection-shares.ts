import { overloadedProblem } from '#shared/platform/db/database-errors.ts'

/** Milliseconds that a caller waits for a connection before OVERLOADED (page "Beyond", section 2). */
const maxWaitMs = 3_000

/** The user of a connection: a workspace's id, or null for the platform's own work, which has no cap. */
export type ConnectionOwner = string | null

interface WaitingCaller {
  readonly admit: () => void
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

  constructor(connections: number) {
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

  release(owner: ConnectionOwner): void {
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
        reject(overloadedProblem(`No connection to the database was free for ${maxWaitMs / 1_000} s; try again soon`))
      }
      const limit = setTimeout(leave, maxWaitMs)
      const waiting = {
        admit: () => {
          clearTimeout(limit)
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
