import type { Executor } from '#shared/db/database.ts'
import { recordSource } from '#shared/events/change.ts'
import { deleteListeners, findListened, insertListeners } from '#shared/events/statements.ts'

/** Something that listens to events, such as a notification rule: whose it is, and its own id there. */
export interface Listener {
  readonly workspaceId: string
  /** A name in workers/subscriptions.ts. */
  readonly subscriber: string
  readonly id: string
}

/** What it listens to. A record type that is deleted takes those who listen to it along. */
export interface Heard {
  /** Where the events come from: changes of records unless it is said. */
  readonly source?: string
  /** The key of a record type, or a topic of another source: it is compared as text with those that an event is announced under. */
  readonly objectType: string
  /** What happens: of records a `ChangeEvent`, of another source a word of its own. */
  readonly event: string
  /** Asks for the subject as the change left it, a deleted one as it was, with each event. */
  readonly snapshot?: boolean
}

/**
 * Lets something listen to these events and no others; to none, when the list is empty. Call it in the transaction that writes what
 * listens: events from its commit on are heard, and those before it are not.
 */
export async function listen(db: Executor, { workspaceId, subscriber, id }: Listener, heard: readonly Heard[]): Promise<void> {
  await db.query(deleteListeners(workspaceId, subscriber, id))
  if (heard.length === 0) return
  await db.query(
    insertListeners(
      workspaceId,
      subscriber,
      id,
      heard.map(({ source = recordSource }) => source),
      heard.map(({ objectType }) => objectType),
      heard.map(({ event }) => event),
      heard.map(({ snapshot = false }) => snapshot),
    ),
  )
}

/**
 * What of a source anybody in the workspace listens to, each once: for a source that makes events only when somebody wants them, such as
 * those of a calendar that are so many minutes ahead.
 */
export const listenedTo = (db: Executor, workspaceId: string, source: string): Promise<{ objectType: string; event: string }[]> =>
  db.query(findListened(workspaceId, source))
