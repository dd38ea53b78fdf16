import type { Executor } from '#shared/db/database.ts'
import type { ChangeEvent } from '#shared/events/change.ts'
import { deleteListeners, insertListeners } from '#shared/events/statements.ts'

/** Something that listens to changes of records, such as a notification rule: whose it is, and its own id there. */
export interface Listener {
  readonly workspaceId: string
  /** A name in workers/subscriptions.ts. */
  readonly subscriber: string
  readonly id: string
}

/** What it listens to. A type that is deleted takes those who listen to it along. */
export interface Heard {
  readonly objectType: string
  readonly event: ChangeEvent
}

/**
 * Lets something listen to these changes and no others; to none, when the list is empty. Call it in the transaction that writes what
 * listens: changes from its commit on are heard, and those before it are not.
 */
export async function listen(db: Executor, { workspaceId, subscriber, id }: Listener, heard: readonly Heard[]): Promise<void> {
  await db.query(deleteListeners(workspaceId, subscriber, id))
  if (heard.length === 0) return
  const [types, events] = [heard.map(({ objectType }) => objectType), heard.map(({ event }) => event)]
  await db.query(insertListeners(workspaceId, subscriber, id, types, events))
}
