import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { type ChangeEvent, recordSource } from '#shared/platform/events/event-delivery.ts'
import {
  deleteOtherListeners,
  findListened,
  findListenersKeys,
  findRecordListeners,
  insertListeners,
} from '#shared/platform/events/listeners-store.ts'

/** A listener to events, such as a notification rule: its workspace, subscriber and id. */
export interface Listener {
  readonly workspaceId: string
  /** Name of a subscriber in shared/features.ts. */
  readonly subscriber: string
  readonly id: string
}

/** The events that a listener receives. Deleting a record type deletes the listeners to it. */
export interface ListenedEvent {
  /** Source of the events; changes of records by default. */
  readonly source?: string
  /** Key of a record type, or topic of another source; the empty text hears every topic of that source. */
  readonly objectType: string
  /** Name of the event: a `ChangeEvent` of records, or a name of another source. */
  readonly event: string
  /** Whether each event carries the subject as it was after the change, or before its deletion. */
  readonly snapshot?: boolean
  /** Keys of the fields that the listener tests: events of updates keep their values where they did not change. */
  readonly keeps?: readonly string[]
}

/**
 * Replaces the events that a listener receives; an empty list removes the listener. Call it in the transaction that writes the listener's
 * own data: the listener receives events that happen after the commit, and none from before. Those that it received already it receives
 * without a gap.
 */
export async function listen(db: Executor, listener: Listener, events: readonly ListenedEvent[]): Promise<void> {
  const params = {
    workspaceId: listener.workspaceId,
    subscriber: listener.subscriber,
    listenerId: listener.id,
    sources: events.map(({ source = recordSource }) => source),
    objectTypes: events.map(({ objectType }) => objectType),
    events: events.map(({ event }) => event),
  }
  await db.query(deleteOtherListeners(params))
  if (events.length === 0) return
  const keeps = [...new Set(events.flatMap((event) => event.keeps ?? []))]
  await db.query(insertListeners({ ...params, keeps, wantSnapshots: events.map(({ snapshot = false }) => snapshot) }))
}

/**
 * Finds the distinct events of a source that any listener of the workspace receives, for sources that make events only on demand, such as
 * calendar reminders some minutes ahead of an event.
 */
export const findListenedEvents = (db: Executor, workspaceId: string, source: string) => db.query(findListened({ workspaceId, source }))

interface ListenedScope {
  readonly db: Executor
  readonly cache: Cache
  readonly workspace: { readonly id: string }
}

/**
 * The changes of records that listeners of the workspace receive, such as `deals created`, and whether one of these wants snapshots. Cached
 * until a listener of the workspace changes.
 */
const findListenedChanges = ({ db, cache, workspace }: ListenedScope): Promise<ReadonlyMap<string, boolean>> =>
  cache.remember(db, workspace.id, 'listened changes', async () => {
    const rows = await db.query(findRecordListeners({ workspaceId: workspace.id }))
    return new Map(rows.map(({ objectType, event, snapshot }) => [`${objectType} ${event}`, snapshot]))
  })

/**
 * Whether any listener wants the whole record with each update of a type's records. Creations and deletions need no snapshot: their audit
 * entry holds the whole record.
 */
export const wantsSnapshots = async (scope: ListenedScope, typeKey: string): Promise<boolean> =>
  (await findListenedChanges(scope)).get(`${typeKey} updated`) ?? false

/** The keys of the fields that listeners of the workspace test. Cached like `findListenedChanges`. */
export const findKeptKeys = ({ db, cache, workspace }: ListenedScope): Promise<ReadonlySet<string>> =>
  cache.remember(db, workspace.id, 'kept keys', async () => {
    const rows = await db.query(findListenersKeys({ workspaceId: workspace.id }))
    return new Set(rows.map(({ key }) => key))
  })

/** Wakes the numbering of a record's change after the commit, at once where a listener receives it. */
export async function wakeAfterChange(
  scope: ListenedScope & Parameters<typeof wakeNumbering>[0],
  typeKey: string,
  event: ChangeEvent,
): Promise<void> {
  const changes = await findListenedChanges(scope)
  wakeNumbering(scope, changes.has(`${typeKey} ${event}`) ? 'now' : 'soon')
}
