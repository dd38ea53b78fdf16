import type { Executor } from '#shared/platform/db/database.ts'
import { insertAnnounced } from '#shared/platform/events/inbox-store.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { inboxSignal } from '#shared/platform/jobs/job-signals.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

interface Announcer {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly workspace: { readonly id: string }
}

/**
 * Wakes the numbering of events after the commit of what caused them: at once where listeners may wait for them, else soon, so that a busy
 * process numbers many at a time.
 */
export function wakeNumbering({ db, jobQueue: { signals }, workspace }: Announcer, when: 'now' | 'soon'): void {
  db.afterCommit(() => (when === 'now' ? signals.signalJobs(`${inboxSignal}/${workspace.id}`) : signals.signalOften(inboxSignal)))
}

interface AnnouncingScope extends Announcer {
  readonly cause: Cause
}

/** An announced event of a feature. */
interface AnnouncedEvent {
  /** Permanent id of the event, a UUID of version 7; receivers use it as the deduplication key. */
  readonly id: string
  /** Id of the subject, such as a calendar event. */
  readonly subjectId: string
  /** What the event is about, as readers of the list of events see it; undefined for events that are in no list. */
  readonly subject?: Readonly<Record<string, string>>
  /** The subject after the event, or before its deletion, as any JSON. Only listeners that asked for snapshots get it. */
  readonly snapshot: unknown
  /** What readers of the list of events see, as any JSON; the snapshot when left out. */
  readonly data?: unknown
  /** Values by which it is decided who may read it, as any JSON. */
  readonly kept?: unknown
}

/** Events of one kind from a source other than records. */
interface Announcement {
  /** The type in the workspace's list of events; null for events that only listeners hear. */
  readonly type: string | null
  /** Name of the source, such as `calendar`. */
  readonly source: string
  /** The topic of the events, such as a calendar's key. Listeners to the empty topic hear every topic of the source. */
  readonly topic: string
  /** Name of the event within its source. */
  readonly event: string
  readonly events: readonly AnnouncedEvent[]
  /** Whether listeners receive them; true by default. */
  readonly isDelivered?: boolean
}

/**
 * Announces events in the transaction that causes them: they are numbered, and delivered to their listeners, if and only if it commits. One
 * statement for any number of events. Record changes insert theirs in their own statement.
 */
export async function announceEvents(scope: AnnouncingScope, announcement: Announcement): Promise<void> {
  const { type, source, topic, event, events, isDelivered = true } = announcement
  if (events.length === 0) return
  await scope.db.query(
    insertAnnounced({
      workspaceId: scope.workspace.id,
      type,
      source,
      topic,
      event,
      events: JSON.stringify(events.map(({ subjectId, ...event }) => ({ ...event, subject_id: subjectId }))),
      isDelivered,
      cause: JSON.stringify(scope.cause),
    }),
  )
  wakeNumbering(scope, isDelivered ? 'now' : 'soon')
}

/** Something that happened, for the list of events alone. */
interface Happening {
  /** Such as `members.left`. */
  readonly type: string
  readonly subject: Readonly<Record<string, string>> & { readonly id: string }
  readonly data?: Readonly<Record<string, unknown>>
}

/** Puts an event into the list of events, in the transaction of what happened. */
export function announceHappening(scope: AnnouncingScope, { type, subject, data = {} }: Happening): Promise<void> {
  const [source = '', ...rest] = type.split('.')
  const event = { id: newId(), subjectId: subject.id, subject, snapshot: data }
  return announceEvents(scope, { type, source, topic: '', event: rest.join('.'), events: [event] })
}
