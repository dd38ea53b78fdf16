import type { Executor } from '#shared/db/database.ts'
import { outbox } from '#shared/events/outbox.ts'
import { insertEvents } from '#shared/events/statements.ts'
import type { Cause } from '#shared/kernel/cause.ts'
import type { Queue } from '#shared/queue/queue.ts'

/** What a statement that changed records says of their dispatch; absent when it changed none. */
export type Outcome = { readonly dispatched: boolean } | undefined

interface Announcer {
  readonly db: Executor
  readonly queue: Queue
}

/** Wakes the dispatcher once a change is committed that somebody listens to. */
export function announce({ db, queue }: Announcer, outcome: Outcome): void {
  if (outcome?.dispatched) db.afterCommit(() => queue.signals.filled(outbox))
}

/** Something that happened in a room, as those who listen hear of it. */
export interface Happening {
  /** A UUID of version 7 that names this event for good: what is done about it once takes it as its natural key. */
  readonly id: string
  /** What it is about, such as a calendar event. */
  readonly subjectId: string
  /** The subject as the event left it, one that is gone as it was; any JSON. It goes only to listeners that asked. */
  readonly snapshot: unknown
}

/** Events of one kind of a room that is no record type. */
export interface Announcement {
  /** The room's own name, such as `calendar`. */
  readonly source: string
  /** Who listens to any of these hears of it, once: such as the calendar's key, and the empty text for those who listen to all of them. */
  readonly topics: readonly [string, ...string[]]
  /** What happened, in the source's own word. */
  readonly event: string
  readonly happenings: readonly Happening[]
}

/**
 * Tells those who listen at this moment that something happened, in the transaction that makes it so: it is handed on once that commits, and
 * never without it. One statement, whoever listens; changes of records announce themselves in their own. Returns whether anybody listens.
 */
export async function announceEvents(
  scope: Announcer & { readonly workspace: { readonly id: string }; readonly cause: Cause },
  { source, topics, event, happenings }: Announcement,
): Promise<boolean> {
  if (happenings.length === 0) return false
  const rows = await scope.db.query(
    insertEvents(
      scope.workspace.id,
      source,
      topics,
      event,
      happenings.map(({ id }) => id),
      happenings.map(({ subjectId }) => subjectId),
      JSON.stringify(happenings.map(({ snapshot }) => snapshot ?? null)),
      JSON.stringify(scope.cause),
    ),
  )
  announce(scope, { dispatched: rows.length > 0 })
  return rows.length > 0
}
