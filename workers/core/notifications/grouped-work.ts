import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'

/** Processes one item, alone or together with others of its workspace; resolves when it is done. */
export type GroupedWork<Item> = (scope: PlatformScope, item: Item) => Promise<void>

interface Waiting<Item> {
  readonly scope: PlatformScope
  readonly item: Item
  readonly done: PromiseWithResolvers<void>
}

/**
 * Groups the items of concurrent attempts by workspace: items that arrive while a group is processed form the next group. Workspaces do not
 * wait for each other. A failed group is processed again item by item, so that no item fails because of another; the work must therefore be
 * idempotent.
 */
export function createGroupedWork<Item>(
  workspaceOf: (item: Item) => string,
  work: (scope: PlatformScope, items: readonly Item[], workspaceId: string) => Promise<void>,
): GroupedWork<Item> {
  // By job queue: a process has one, but a test runs several workers, each with its own, in one process.
  const processes = new WeakMap<JobQueue, Map<string, Waiting<Item>[]>>()
  return (scope, item) => {
    const waiting = processes.get(scope.jobQueue) ?? new Map<string, Waiting<Item>[]>()
    processes.set(scope.jobQueue, waiting)
    const done = Promise.withResolvers<void>()
    const request = { scope, item, done }
    const workspaceId = workspaceOf(item)
    const group = waiting.get(workspaceId)
    if (group) group.push(request)
    else {
      waiting.set(workspaceId, [request])
      void processGroups(waiting, workspaceId)
    }
    return done.promise
  }

  async function processGroups(waiting: Map<string, Waiting<Item>[]>, workspaceId: string): Promise<void> {
    for (;;) {
      // Attempts of jobs fetched together add their items before this resolves.
      await new Promise(setImmediate)
      const group = waiting.get(workspaceId) ?? []
      if (group.length === 0) break
      waiting.set(workspaceId, [])
      await processGroup(workspaceId, group)
    }
    waiting.delete(workspaceId)
  }

  async function processGroup(workspaceId: string, group: readonly Waiting<Item>[]): Promise<void> {
    const [first] = group
    if (!first) return
    try {
      await work(
        first.scope,
        group.map(({ item }) => item),
        workspaceId,
      )
      for (const { done } of group) done.resolve()
    } catch (error) {
      if (group.length === 1) first.done.reject(error)
      else for (const one of group) await processGroup(workspaceId, [one])
    }
  }
}
