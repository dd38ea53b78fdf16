import { randomUUID } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import { subscriptions } from '#shared/features.ts'
import { type ListenedEvent, listen } from '#shared/platform/events/listen.ts'
import type { Dispatch } from '#shared/platform/events/numbering-store.ts'
import { takeDispatches } from '#shared/platform/events/waiting-store.ts'
import { eventually } from '#test/support/eventually.ts'
import type { World } from '#test/support/world.ts'
import { numberBatch } from '#workers/platform/events/number-batch.ts'

/** Subscribers that no manifest names, so that no worker takes their events. */
type TestSubscriber = 'test' | 'other'

/** Subscribes to events of the world's workspace. */
export const addListener = ({ worker, org }: World, events: readonly ListenedEvent[], as: TestSubscriber = 'test', id = randomUUID()) =>
  worker.database.transaction((tx) => listen(tx, { workspaceId: org.id, subscriber: as, id }, events))

/** Numbers the events of the world's workspace, also while its workers do. */
export async function numberEvents({ worker, org, db }: World): Promise<void> {
  const services = { db: worker.database, jobQueue: worker.jobQueue }
  await eventually(async () => {
    await numberBatch(services, subscriptions, [org.id], 1_000)
    return (await db.query('select from event_inbox where workspace_id = $1', [org.id])).rowCount === 0
  })
}

/** Takes the announced events of the world's workspace, in their order, after it has numbered them. */
export async function takeEvents(w: World): Promise<Dispatch[]> {
  const { worker, org } = w
  await numberEvents(w)
  return worker.database.transaction((tx) =>
    tx.query(takeDispatches({ known: ['test', 'other'], workspaceIds: [org.id], perWorkspace: 1_000 })),
  )
}

/** Ends the listeners of the world's workspace with the test, and removes the events that it did not take: `drain` and `close` wait for them. */
export const endListeners = (t: ExecutionContext, { db, org }: World): void =>
  t.teardown(async () => {
    await db.query('delete from event_listeners where workspace_id = $1', [org.id])
    await db.query('delete from event_inbox where workspace_id = $1', [org.id])
    await db.query('delete from waiting_deliveries where workspace_id = $1', [org.id])
  })

/**
 * Subscribes to events until the test ends, and returns a function that takes those that were announced since. With a count it waits for so
 * many events: `drain` cannot wait for those that a job announces, since it waits until they are taken.
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
      return taken.flatMap(({ entryIds }) => entryIds).length >= count
    })
    return taken
  }
}
