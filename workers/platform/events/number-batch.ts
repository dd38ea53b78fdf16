import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { recordSource, typeSource } from '#shared/platform/events/event-delivery.ts'
import { type Dispatch, lockHeads, type NumberedEvent, numberEvents } from '#shared/platform/events/numbering-store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { CrowdedWorkspaces } from '#workers/platform/events/crowded-workspaces.ts'
import { fileOrKeep, waitsWhole } from '#workers/platform/events/file-dispatches.ts'

interface Services {
  readonly db: Executor
  readonly jobQueue: JobQueue
}

interface Numbered {
  /** How many events of each workspace left the inbox. */
  readonly taken: ReadonlyMap<string, number>
  /** Whether dispatches were stored that have to wait. */
  readonly leftWaiting: boolean
}

/**
 * Numbers the next events of some workspaces, at most `perWorkspace` of each, and files the jobs of their listeners, in one transaction: a
 * process that is killed leaves nothing half done. It passes over workspaces that another process numbers at the moment.
 */
export function numberBatch(
  { db, jobQueue }: Services,
  subscriptions: Subscriptions,
  workspaceIds: readonly string[],
  perWorkspace: number,
  crowded = new CrowdedWorkspaces({ db, jobQueue }, subscriptions),
): Promise<Numbered> {
  return db.transaction(async (tx) => {
    const heads = await tx.query(lockHeads({ workspaceIds }))
    if (heads.length === 0) return { taken: new Map(), leftWaiting: false }
    const rows = await tx.query(numberEvents({ workspaceIds: heads.map(({ workspaceId }) => workspaceId), perWorkspace }))
    const dispatches = groupDispatches(rows.flatMap(receivedOf))
    const leftWaiting =
      dispatches.length > 0 && (await fileOrKeep(tx, jobQueue, subscriptions, dispatches, await findClosed(tx, rows, crowded)))
    const taken = new Map([...Map.groupBy(rows, ({ workspaceId }) => workspaceId)].map(([id, ofOne]) => [id, ofOne.length]))
    return { taken, leftWaiting }
  })
}

/** Workspaces whose deliveries wait: suspended ones, those with too many jobs in the queue, and those with earlier deliveries that wait. */
async function findClosed(tx: Tx, events: readonly NumberedEvent[], crowded: CrowdedWorkspaces): Promise<ReadonlySet<string>> {
  const received = events.filter(({ listeners, typeListeners }) => listeners !== null || typeListeners !== null)
  const full = await crowded.forBatch(tx, received.length)
  return new Set(
    received.flatMap(({ workspaceId, isSuspended, hasWaiting }) =>
      waitsWhole(isSuspended) || hasWaiting || full.has(workspaceId) ? [workspaceId] : [],
    ),
  )
}

/** An event as the listeners to its source receive it, and as those to its type do. */
function receivedOf(event: NumberedEvent): NumberedEvent[] {
  const { type, typeListeners, typedEvent } = event
  if (type === null || typeListeners === null) return [event]
  return [event, { ...event, source: typeSource, objectType: '', event: type, listeners: typeListeners, snapshot: typedEvent }]
}

/**
 * The dispatches of numbered events. Events of one kind, cause and listeners are one dispatch, as those of an import. A snapshot of an update
 * may be long, so such an event is alone.
 */
function groupDispatches(events: readonly NumberedEvent[]): Dispatch[] {
  const groups = Map.groupBy(events, ({ workspaceId, source, objectType, event, listeners, cause, snapshot, typedEvent, entryId }) => {
    const isLong =
      source === typeSource ? event === 'records.updated' && typedEvent?.kept != null : source === recordSource && event === 'updated'
    const isAlone = isLong && snapshot !== null
    return JSON.stringify([workspaceId, source, objectType, event, listeners, cause, isAlone && entryId])
  })
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first?.listeners || !first.cause) return []
    const { workspaceId, seq, source, objectType, event, listeners, cause } = first
    const entryIds = group.map(({ entryId }) => entryId)
    const subjectIds = group.map(({ subjectId }) => subjectId)
    const snapshots = group.some(({ snapshot }) => snapshot !== null) ? group.map(({ snapshot }) => snapshot) : null
    return [{ id: newId(), workspaceId, seq, source, objectType, event, entryIds, subjectIds, snapshots, listeners, cause }]
  })
}
