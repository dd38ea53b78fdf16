import { randomUUID } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { type ListenedEvent, listen } from '#shared/platform/events/listen.ts'
import { type Dispatch, takeDispatches } from '#shared/platform/events/store.ts'
import { eventually } from '#test/support/eventually.ts'
import type { World } from '#test/support/world.ts'

/** Subscribers that no manifest names, so that no worker takes their events. */
type TestSubscriber = 'test' | 'other'

/** Subscribes to events of the world's workspace. */
export const addListener = ({ worker, org }: World, events: readonly ListenedEvent[], as: TestSubscriber = 'test', id = randomUUID()) =>
  worker.database.transaction((tx) => listen(tx, { workspaceId: org.id, subscriber: as, id }, events))

/** Takes the announced events of the world's workspace, in their order. */
export const takeEvents = ({ worker, org }: World): Promise<Dispatch[]> =>
  worker.database.transaction((tx) => tx.query(takeDispatches({ known: ['test', 'other'], workspaceIds: [org.id], perWorkspace: 100 })))

/** Ends the listeners of the world's workspace with the test, and removes the events that it did not take: `drain` and `close` wait for them. */
export const endListeners = (t: ExecutionContext, { db, org }: World): void =>
  t.teardown(async () => {
    await db.query('delete from event_listeners where workspace_id = $1', [org.id])
    await db.query('delete from event_outbox where workspace_id = $1', [org.id])
  })

/**
 * Subscribes to events until the test ends, and returns a function that takes those that were announced since. With a count it waits for so
 * many: `drain` cannot wait for those that a job announces, since it waits until they are taken.
 */
export async function receiveEvents(
  t: ExecutionContext,
  w: World,
  events: readonly ListenedEvent[],
): Promise<(count?: number) => Promise<Dispatch[]>> {
  endListeners(t, w)
  await addListener(w, events)
  return async (count = 0) => {
    const taken: Dispatch[] = []
    await eventually(async () => {
      taken.push(...(await takeEvents(w)))
      return taken.length >= count
    })
    return taken
  }
}
