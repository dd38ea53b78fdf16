import { overloadedProblem } from '#shared/platform/db/database-errors.ts'

/** Milliseconds that a caller waits for a connection; then it is OVERLOADED (page "Beyond", section 2). */
const patienceMs = 3_000

/** Whom a connection is for: a workspace's id, or null for the platform's own work, which has no cap. */
export type ConnectionOwner = string | null

interface Waiting {
  readonly admit: () => void
}

/**
 * Shares the connections of a process among workspaces. A workspace has at most a quarter of them while others wait, and never takes the
 * last free quarter for what it holds beyond its own. Workspaces that wait take turns; callers of one are served in their order.
 */
export class ConnectionShares {
  readonly #quarter: number
  /** Connections that are kept for workspaces below their share. */
  readonly #reserve: number
  #free: number
  readonly #held = new Map<ConnectionOwner, number>()
  /** Callers that wait, by owner. The order of the map is the order of turns. */
  readonly #lines = new Map<ConnectionOwner, Waiting[]>()
  #waiting = 0

  constructor(connections: number) {
    this.#free = connections
    this.#quarter = Math.max(1, Math.floor(connections / 4))
    this.#reserve = Math.floor(connections / 4)
  }

  /** Callers that wait for a connection. */
  get waiting(): number {
    return this.#waiting
  }

  /** Takes a connection's place: undefined when it was free, else a promise of it, which rejects with OVERLOADED after 3 s. */
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
      const line = this.#lines.get(owner) ?? []
      this.#lines.set(owner, line)
      const leave = () => {
        line.splice(line.indexOf(waiting), 1)
        this.#left(owner, line)
        reject(overloadedProblem(`No connection to the database was free for ${patienceMs / 1_000} s; try again soon`))
      }
      const limit = setTimeout(leave, patienceMs)
      const waiting = {
        admit: () => {
          clearTimeout(limit)
          this.#hold(owner)
          resolve()
        },
      }
      line.push(waiting)
      this.#waiting += 1
    })
  }

  #left(owner: ConnectionOwner, line: readonly Waiting[]): void {
    this.#waiting -= 1
    if (line.length === 0) this.#lines.delete(owner)
  }

  #admit(): void {
    while (this.#free > 0 && this.#waiting > 0) {
      const owner = this.#nextOwner()
      if (owner === undefined) return
      const line = this.#lines.get(owner) as Waiting[]
      const next = line.shift() as Waiting
      // The owner goes behind the others that wait.
      this.#lines.delete(owner)
      if (line.length > 0) this.#lines.set(owner, line)
      this.#waiting -= 1
      next.admit()
    }
  }

  /** Whose turn it is: the first owner within its share, else the first of all while there is spare. */
  #nextOwner(): ConnectionOwner | undefined {
    for (const owner of this.#lines.keys()) if (this.#isWithinShare(owner)) return owner
    if (!this.#hasSpare()) return undefined
    const [first] = this.#lines.keys()
    return first
  }
}
