import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'

/** Does something about one item; resolves when it is done, with others of its workspace or alone. */
export type GroupedWork<Item> = (scope: PlatformScope, item: Item) => Promise<void>

interface Waiting<Item> {
  readonly scope: PlatformScope
  readonly item: Item
  readonly done: PromiseWithResolvers<void>
}

/**
 * Work that attempts ask for one by one and that is done for many of a workspace at once: what a process is asked for while it works on one
 * lot makes up the next, so the cost of a lot does not grow with the load. No workspace waits for another's lot. One that fails is done again
 * item by item, so that nobody fails by the fault of another; the work must be fit to be done twice.
 */
export function createGroupedWork<Item>(
  workspaceOf: (item: Item) => string,
  work: (scope: PlatformScope, items: readonly Item[], workspaceId: string) => Promise<void>,
): GroupedWork<Item> {
  // A process has one queue; tests have several processes in one.
  const processes = new WeakMap<JobQueue, Map<string, Waiting<Item>[]>>()
  return (scope, item) => {
    const waiting = processes.get(scope.jobQueue) ?? new Map<string, Waiting<Item>[]>()
    processes.set(scope.jobQueue, waiting)
    const done = Promise.withResolvers<void>()
    const asked = { scope, item, done }
    const workspaceId = workspaceOf(item)
    const lot = waiting.get(workspaceId)
    if (lot) lot.push(asked)
    else {
      waiting.set(workspaceId, [asked])
      void workOff(waiting, workspaceId)
    }
    return done.promise
  }

  async function workOff(waiting: Map<string, Waiting<Item>[]>, workspaceId: string): Promise<void> {
    for (;;) {
      // Attempts at jobs that were fetched together ask one after the other, and before this.
      await new Promise(setImmediate)
      const lot = waiting.get(workspaceId) ?? []
      if (lot.length === 0) break
      waiting.set(workspaceId, [])
      await doTogether(workspaceId, lot)
    }
    waiting.delete(workspaceId)
  }

  async function doTogether(workspaceId: string, lot: readonly Waiting<Item>[]): Promise<void> {
    const [first] = lot
    if (!first) return
    try {
      await work(
        first.scope,
        lot.map(({ item }) => item),
        workspaceId,
      )
      for (const { done } of lot) done.resolve()
    } catch (error) {
      if (lot.length === 1) first.done.reject(error)
      else for (const one of lot) await doTogether(workspaceId, [one])
    }
  }
}
