import { overloadedProblem } from '#shared/platform/db/database-errors.ts'

/** Milliseconds that a search waits for a slot before OVERLOADED (docs/contract/limits.md#searches). */
const maxWaitMs = 3_000

interface WaitingSearch<Connection> {
  /** Whether it needs a connection; one in a transaction has its own. */
  readonly needsConnection: boolean
  readonly admit: (connection?: Connection) => void
}

/** The searches of one workspace. */
interface Line<Connection> {
  running: number
  readonly waiting: WaitingSearch<Connection>[]
}

interface SearchLimits {
  /** Searches of one workspace that run at once while no other workspace uses the database: its processors. */
  readonly perWorkspace: number
  /** Searches of all workspaces that run at once. */
  readonly inAll: number
  /** Milliseconds for which another workspace still counts as a user of the database; 0 if none does. */
  readonly othersUseFor: (workspaceId: string) => number
}

/**
 * Limits the statements that search. As many searches of a workspace run as the database has processors, and one while another workspace
 * uses the database: more would only share the same processors, and each would take longer. The others wait in the process, first in,
 * first out; workspaces are served round-robin. A search that runs is never cancelled in favour of others.
 */
export class SearchLimiter<Connection = never> {
  readonly #options: SearchLimits
  /** Lines by workspace. The map's order is the round-robin order. */
  readonly #lines = new Map<string, Line<Connection>>()
  #running = 0
  #waiting = 0
  #recheck: NodeJS.Timeout | undefined

  constructor(options: SearchLimits) {
    this.#options = options
  }

  /** The number of searches that wait for a slot. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Takes a slot: undefined when one was free, else a promise that rejects with OVERLOADED after 3 s. It resolves to the connection of the
   * search whose place this one takes, if `needsConnection` and that search gave it.
   */
  acquire(workspaceId: string, needsConnection = false): Promise<Connection | undefined> | undefined {
    const line = this.#lines.get(workspaceId) ?? { running: 0, waiting: [] }
    this.#lines.set(workspaceId, line)
    if (line.waiting.length > 0 || !this.#mayRun(workspaceId, line)) return this.#wait(workspaceId, line, needsConnection)
    this.#begin(line)
    return undefined
  }

  /** Gives a slot back. Returns whether the next search of the workspace took the connection too. */
  release(workspaceId: string, connection?: Connection): boolean {
    const line = this.#lines.get(workspaceId) as Line<Connection>
    line.running -= 1
    this.#running -= 1
    this.#removeIfEmpty(workspaceId, line)
    return this.#waiting > 0 && this.#admit({ workspaceId, connection })
  }

  /** Whether another workspace's search waits or runs. */
  hasOthers(workspaceId: string): boolean {
    return this.#lines.size > (this.#lines.has(workspaceId) ? 1 : 0)
  }

  close(): void {
    clearTimeout(this.#recheck)
  }

  #mayRun(workspaceId: string, { running }: Line<Connection>): boolean {
    if (this.#running >= this.#options.inAll) return false
    if (running === 0) return true
    return running < this.#options.perWorkspace && !this.hasOthers(workspaceId) && this.#options.othersUseFor(workspaceId) === 0
  }

  #begin(line: Line<Connection>): void {
    line.running += 1
    this.#running += 1
  }

  #wait(workspaceId: string, line: Line<Connection>, needsConnection: boolean): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(search), 1)
        this.#waiting -= 1
        this.#removeIfEmpty(workspaceId, line)
        reject(overloadedProblem(`Other searches and reports of this workspace took ${maxWaitMs / 1_000} s; try again soon`))
      }
      const limit = setTimeout(leave, maxWaitMs)
      const search = {
        needsConnection,
        admit: (connection?: Connection) => {
          clearTimeout(limit)
          resolve(connection)
        },
      }
      line.waiting.push(search)
      this.#waiting += 1
      this.#recheckLater(workspaceId, line)
    })
  }

  /** Admits waiting searches. Returns whether one of the same workspace took the connection that was left. */
  #admit(left?: { readonly workspaceId: string; readonly connection: Connection | undefined }): boolean {
    let unused = left?.connection
    for (const [workspaceId, line] of [...this.#lines]) {
      let isServed = false
      while (line.waiting.length > 0 && this.#mayRun(workspaceId, line)) {
        this.#waiting -= 1
        this.#begin(line)
        const next = line.waiting.shift()
        const isHandedOver = next?.needsConnection === true && workspaceId === left?.workspaceId
        next?.admit(isHandedOver ? unused : undefined)
        if (isHandedOver) unused = undefined
        isServed = true
      }
      if (isServed) {
        // The workspace moves behind the other ones.
        this.#lines.delete(workspaceId)
        this.#lines.set(workspaceId, line)
      }
    }
    return left?.connection !== undefined && unused === undefined
  }

  /** The others stop using the database without a call of `release`, so a search that waits for that is looked at again. */
  #recheckLater(workspaceId: string, line: Line<Connection>): void {
    if (this.#recheck) return
    const ms = this.#options.othersUseFor(workspaceId)
    // With 0 the search waits for a `release`, unless the use of the others has ended only since the search was refused.
    if (ms === 0 && !this.#mayRun(workspaceId, line)) return
    this.#recheck = setTimeout(() => {
      this.#recheck = undefined
      this.#admit()
      for (const [id, line] of this.#lines) if (line.waiting.length > 0) return this.#recheckLater(id, line)
    }, ms)
  }

  #removeIfEmpty(workspaceId: string, line: Line<Connection>): void {
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(workspaceId)
  }
}
