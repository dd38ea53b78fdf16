import type { Executor } from '#shared/platform/db/database.ts'
import { insertEvents } from '#shared/platform/events/store.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'

/** The signal that events wait in the outbox. */
export const outboxSignal = 'events'

/** Whether a statement that changed records inserted a dispatch; undefined when it changed no record. */
export type DispatchResult = { readonly dispatched: boolean } | undefined

interface Announcer {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

/** Wakes the dispatcher after the commit of a change with listeners. */
export function wakeDispatcher({ db, jobQueue }: Announcer, outcome: DispatchResult): void {
  if (outcome?.dispatched) db.afterCommit(() => jobQueue.signals.signalJobs(outboxSignal))
}

/** An announced event of a feature. */
interface AnnouncedEvent {
  /** Permanent id of the event, a UUID of version 7; receivers use it as the deduplication key. */
  readonly id: string
  /** Id of the subject, such as a calendar event. */
  readonly subjectId: string
  /** The subject after the event, or before its deletion, as any JSON. Only listeners that asked for snapshots get it. */
  readonly snapshot: unknown
}

/** Events of one kind from a source other than records. */
interface Announcement {
  /** Name of the source, such as `calendar`. */
  readonly source: string
  /**
   * The topics of the events, such as a calendar's key, and an empty text for listeners to all calendars. A listener to any of them
   * receives each event once.
   */
  readonly topics: readonly [string, ...string[]]
  /** Name of the event within its source. */
  readonly event: string
  readonly events: readonly AnnouncedEvent[]
}

/**
 * Announces events to the current listeners, in the transaction that causes them: they are delivered if and only if it commits. One
 * statement for any number of listeners. Record changes insert their dispatch in their own statement. Returns whether there are listeners.
 */
export async function announceEvents(
  scope: Announcer & { readonly workspace: { readonly id: string }; readonly cause: Cause },
  { source, topics, event, events }: Announcement,
): Promise<boolean> {
  if (events.length === 0) return false
  const rows = await scope.db.query(
    insertEvents({
      workspaceId: scope.workspace.id,
      source,
      topics,
      event,
      entryIds: events.map(({ id }) => id),
      subjectIds: events.map(({ subjectId }) => subjectId),
      snapshots: JSON.stringify(events.map(({ snapshot }) => snapshot ?? null)),
      cause: JSON.stringify(scope.cause),
    }),
  )
  wakeDispatcher(scope, { dispatched: rows.length > 0 })
  return rows.length > 0
}
