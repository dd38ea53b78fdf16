import type { PlatformScope } from '#shared/access/scope.ts'
import type { Queue } from '#shared/queue/queue.ts'

/** Does something about one item; resolves when it is done, with others or alone. */
export type InLots<Item> = (scope: PlatformScope, item: Item) => Promise<void>

interface Waiting<Item> {
  readonly scope: PlatformScope
  readonly item: Item
  readonly done: PromiseWithResolvers<void>
}

/**
 * Work that attempts ask for one by one and that is done for many at once: what a process is asked for while it works on one lot makes up
 * the next, so the cost of a lot does not grow with the load. A lot that fails is done again item by item, so that nobody fails by the
 * fault of another; the work must be fit to be done twice.
 */
export function inLots<Item>(work: (scope: PlatformScope, items: readonly Item[]) => Promise<void>): InLots<Item> {
  // A process has one queue; tests have several processes in one.
  const waiting = new WeakMap<Queue, Waiting<Item>[]>()
  return (scope, item) => {
    const done = Promise.withResolvers<void>()
    const asked = { scope, item, done }
    const lot = waiting.get(scope.queue)
    if (lot) lot.push(asked)
    else {
      waiting.set(scope.queue, [asked])
      void workOff(scope.queue)
    }
    return done.promise
  }

  async function workOff(queue: Queue): Promise<void> {
    for (;;) {
      // Attempts at jobs that were fetched together ask one after the other, and before this.
      await new Promise(setImmediate)
      const lot = waiting.get(queue) ?? []
      if (lot.length === 0) break
      waiting.set(queue, [])
      await doTogether(lot)
    }
    waiting.delete(queue)
  }

  async function doTogether(lot: readonly Waiting<Item>[]): Promise<void> {
    const [first] = lot
    if (!first) return
    try {
      await work(
        first.scope,
        lot.map(({ item }) => item),
      )
      for (const { done } of lot) done.resolve()
    } catch (error) {
      if (lot.length === 1) first.done.reject(error)
      else for (const one of lot) await doTogether([one])
    }
  }
}
