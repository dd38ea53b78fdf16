import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { recordSource, typeSource } from '#shared/platform/events/event-delivery.ts'
import { eventLagSeconds } from '#shared/platform/events/metrics.ts'
import { type Dispatch, findTypeListeners, lockHeads, type NumberedEvent, numberEvents } from '#shared/platform/events/numbering-store.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { idTimeMs, newId } from '#shared/platform/kernel/ids.ts'
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
    tx.afterCommit(() => observeLag(rows))
    const received = await addTypeListeners(tx, rows)
    const dispatches = groupDispatches(received)
    const leftWaiting =
      dispatches.length > 0 && (await fileOrKeep(tx, jobQueue, subscriptions, dispatches, await findClosed(tx, received, crowded)))
    const taken = new Map([...Map.groupBy(rows, ({ workspaceId }) => workspaceId)].map(([id, ofOne]) => [id, ofOne.length]))
    const followed = heads.filter(({ workspaceId, isFollowed }) => isFollowed && taken.has(workspaceId))
    for (const { workspaceId } of followed) tx.afterCommit(() => jobQueue.signals.signalNumbered(workspaceId))
    return { taken, leftWaiting }
  })
}

/** Puts behind each event that listeners receive by its type the event as these receive it. */
async function addTypeListeners(tx: Tx, rows: readonly NumberedEvent[]): Promise<readonly NumberedEvent[]> {
  const typed = rows.flatMap(({ workspaceId, typed }) => (typed ? [{ workspaceId, ...typed }] : []))
  if (typed.length === 0) return rows
  const found = await tx.query(
    findTypeListeners({
      workspaceIds: typed.map(({ workspaceId }) => workspaceId),
      ids: typed.map(({ id }) => String(id)),
      types: typed.map(({ type }) => type),
    }),
  )
  const receivers = new Map(found.map((one) => [one.id, one]))
  return rows.flatMap((row) => {
    const receiver = row.typed && receivers.get(row.typed.id)
    if (!row.typed || !receiver) return [row]
    const { type, cause, event } = row.typed
    const { listeners, isSuspended, hasWaiting } = receiver
    return [row, { ...row, source: typeSource, objectType: '', event: type, cause, snapshot: event, listeners, isSuspended, hasWaiting }]
  })
}

/** Ids of events hold the time at which they happened. */
function observeLag(events: readonly NumberedEvent[]): void {
  const now = Date.now()
  for (const { entryId } of events) eventLagSeconds.observe(Math.max(0, now - idTimeMs(entryId)) / 1_000)
}

/** Workspaces whose deliveries wait: suspended ones, those with too many jobs in the queue, and those with earlier deliveries that wait. */
async function findClosed(tx: Tx, events: readonly NumberedEvent[], crowded: CrowdedWorkspaces): Promise<ReadonlySet<string>> {
  const received = events.filter(({ listeners }) => listeners !== null)
  const full = await crowded.forBatch(tx, received.length)
  return new Set(
    received.flatMap(({ workspaceId, isSuspended, hasWaiting }) =>
      waitsWhole(isSuspended) || hasWaiting || full.has(workspaceId) ? [workspaceId] : [],
    ),
  )
}

/**
 * The dispatches of numbered events. Events of one kind, cause and listeners are one dispatch, as those of an import. A snapshot of an update
 * may be long, so such an event is alone.
 */
function groupDispatches(events: readonly NumberedEvent[]): Dispatch[] {
  const groups = Map.groupBy(events, ({ workspaceId, source, objectType, event, listeners, cause, snapshot, entryId }) => {
    const isUpdate = source === recordSource ? event === 'updated' : source === typeSource && event === 'records.updated'
    const isAlone = isUpdate && snapshot !== null
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
