import { permits } from '#shared/core/scope/access.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import { lockWorkspace } from '#shared/core/scope/store.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { readFullSummary, readSummaries, readSummary } from '#shared/features/queues/counts/summary.ts'
import { type QueueDefinition, readDefinition } from '#shared/features/queues/definitions/read-definition.ts'
import { type FlowCheck, requireRunReferences, requireTypeReferences } from '#shared/features/queues/definitions/references.ts'
import type { Queue, QueueInput, QueueView } from '#shared/features/queues/definitions/schemas.ts'
import {
  auditDeletion,
  clearHistory,
  clearItems,
  countInStages,
  countQueues,
  deleteQueue,
  deleteStages,
  findHiddenQueue,
  findQueues,
  hideQueue,
  insertQueue,
  insertStages,
  lockQueue,
  lockStages,
  updateQueue,
} from '#shared/features/queues/definitions/store.ts'
import { clearQueueJob } from '#shared/features/queues/jobs.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { changeEvents } from '#shared/platform/events/event-delivery.ts'
import { listen } from '#shared/platform/events/listen.ts'
import { actorColumns, causeColumns } from '#shared/platform/kernel/cause.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Name of the queues' subscription to record changes; listener ids are queue ids. */
export const intakeSubscriber = 'queues'

/** Queues visible to the caller, oldest first, with their counts. Throws VALIDATION_ERROR like `listByCreation`. */
export const listQueues = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<QueueView>> =>
  listByCreation<Queue, QueueView>(scope, query, {
    find: (afterTime, afterId, limit) => findQueues({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ key }) => permits(scope, 'queues:read', key),
    show: (rows) => withSummaries(scope, rows),
  })

async function* withSummaries(scope: Scope, queues: readonly Queue[]): AsyncGenerator<QueueView> {
  const summaries = await readSummaries(scope, queues)
  for (const queue of queues) yield viewOf(queue, summaries.get(queue.id))
}

const empty: QueueView['summary'] = { total: 0, open: 0, closed: 0, overdue: 0, unexpected: 0, by_stage: {} }
function viewOf(queue: Queue, summary: QueueView['summary'] = empty): QueueView {
  const { id, key, name, object_type, enabled, stages, intake, settings, created_at, updated_at } = queue
  return { id, key, name, object_type, enabled, stages, intake, settings, summary, created_at, updated_at }
}

/** One queue with its counts. */
export async function getQueue(scope: Scope, queue: Queue): Promise<QueueView> {
  return viewOf(queue, (await readSummary(scope, queue)).summary)
}

/**
 * Creates a queue. The caller becomes its editor; intake acts with the editor's rights. Throws KEY_TAKEN, FORBIDDEN when the caller may not
 * run a function or flow of a stage, and VALIDATION_ERROR naming the invalid part or the limit of queues.
 */
export async function createQueue(scope: Scope, input: QueueInput, flows: FlowCheck): Promise<QueueView> {
  const definition = readDefinition(input)
  await requireReferences(scope, definition, undefined, flows)
  const { workspace, cause, db } = scope
  return db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    await tx.query(lockWorkspace({ id: workspace.id }))
    const [{ count } = { count: 0 }] = await tx.query(countQueues({ workspaceId: workspace.id }))
    if (count >= queueLimits.queues) throw problem('VALIDATION_ERROR', `a workspace has at most ${queueLimits.queues} queues`)
    const { key } = definition
    const parameters = { ...columnsOf(definition), workspaceId: workspace.id, id: newId(), key, editorId: cause.actorId }
    const queue = requireRow(await tx.query(insertQueue(parameters)))
    await tx.query(insertStages({ workspaceId: workspace.id, queueId: queue.id, keys: keysOf(queue) }))
    await subscribeIntake(txScope, queue)
    return getQueue(txScope, queue)
  })
}

/**
 * Replaces a queue's definition; omitted properties stay unchanged, and items keep the stages whose keys remain. The caller becomes its
 * editor. Throws NOT_FOUND, the errors of `createQueue`, and VALIDATION_ERROR for a removed stage with open items.
 */
export async function replaceQueue(scope: Scope, before: Queue, input: QueueInput, flows: FlowCheck): Promise<QueueView> {
  await requireReferences(scope, readDefinition(input, before), before, flows)
  const { workspace, cause, db } = scope
  return db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    const locked = requireRow(await tx.query(lockQueue({ workspaceId: workspace.id, id: before.id })))
    const definition = readDefinition(input, locked)
    const keys = new Set(definition.stages.map(({ key }) => key))
    await removeStages(
      txScope,
      locked,
      keysOf(locked).filter((key) => !keys.has(key)),
    )
    await tx.query(insertStages({ workspaceId: workspace.id, queueId: before.id, keys: [...keys] }))
    const parameters = { ...columnsOf(definition), workspaceId: workspace.id, id: before.id, editorId: cause.actorId }
    const queue = requireRow(await tx.query(updateQueue(parameters)))
    await subscribeIntake(txScope, queue)
    return getQueue(txScope, queue)
  })
}

/** Deletes stages; throws VALIDATION_ERROR when one has open items. */
async function removeStages({ db, workspace }: Scope, { id }: Queue, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  const stages = { workspaceId: workspace.id, queueId: id, keys }
  await db.query(lockStages(stages))
  const [occupied] = await db.query(countInStages(stages))
  if (occupied) throw problem('VALIDATION_ERROR', `stages must keep ${occupied.stage}: ${occupied.items} open items are in it`)
  await db.query(deleteStages(stages))
}

/**
 * Deletes a queue: it is hidden immediately, its key is free, and a worker deletes its items and history. One audit entry remains. Throws
 * NOT_FOUND.
 */
export async function removeQueue(scope: Scope, queue: Queue): Promise<void> {
  const { workspace, cause, db } = scope
  const summary = await readFullSummary(scope, queue)
  await db.transaction(async (tx) => {
    requireRow(await tx.query(hideQueue({ workspaceId: workspace.id, id: queue.id })))
    await listen(tx, { workspaceId: workspace.id, subscriber: intakeSubscriber, id: queue.id }, [])
    const before = JSON.stringify({ key: queue.key, name: queue.name, total: summary.total, open: summary.open, closed: summary.closed })
    // `queue:…` is never a record type's key, so only callers that see the whole audit see the entry.
    await tx.query(
      auditDeletion({
        workspaceId: workspace.id,
        queueId: queue.id,
        ...actorColumns(cause),
        objectType: `queue:${queue.key}`,
        before,
        requestId: cause.requestId,
        ...causeColumns(cause),
      }),
    )
    await scope.jobQueue.enqueue(tx, clearQueueJob, { workspaceId: workspace.id, cause }, { workspaceId: workspace.id, queueId: queue.id })
  })
}

/** Rows deleted per statement. */
const batchSize = 2_000

/**
 * Deletes the items, history and row of a deleted queue in batches, and tells that its open items are closed. Idempotent; a queue that is
 * not marked deleted is left unchanged.
 */
export async function deleteQueueContents({ db, jobQueue, cause }: PlatformScope, workspaceId: string, queueId: string): Promise<void> {
  const batch = { workspaceId, queueId, limit: batchSize }
  const [hidden] = await db.query(findHiddenQueue({ workspaceId, id: queueId }))
  if (!hidden) return
  const event = { cause: JSON.stringify(cause), objectType: hidden.object_type }
  while ((await db.query(clearItems({ ...batch, ...event }))).length > 0)
    wakeNumbering({ db, jobQueue, workspace: { id: workspaceId } }, 'soon')
  while ((await db.query(clearHistory(batch))).length > 0);
  await db.query(deleteQueue({ workspaceId, id: queueId }))
}

const keysOf = ({ stages }: Pick<Queue, 'stages'>): string[] => stages.map(({ key }) => key)

const columnsOf = ({ name, object_type: objectType, enabled, stages, intake, settings }: QueueDefinition) => ({
  name,
  objectType,
  enabled,
  stages: JSON.stringify(stages),
  intake: JSON.stringify(intake),
  settings: JSON.stringify(settings),
})

/** Checks references to record types, functions and flows; unchanged references are not checked again. */
async function requireReferences(scope: Scope, definition: QueueDefinition, before: Queue | undefined, flows: FlowCheck): Promise<void> {
  await requireTypeReferences(scope, definition, before)
  await requireRunReferences(scope, definition, before, flows)
}

/**
 * Subscribes a queue with active intake to changes of its type's records, with snapshots; unsubscribes any other queue, also one whose type
 * was deleted.
 */
async function subscribeIntake(scope: Scope, { id, enabled, object_type, intake }: Queue): Promise<void> {
  const { db, workspace } = scope
  const isTaking = enabled && intake.enabled && object_type !== null && (await findRecordType(scope, object_type)) !== undefined
  const events = isTaking ? changeEvents : []
  return listen(
    db,
    { workspaceId: workspace.id, subscriber: intakeSubscriber, id },
    events.map((event) => ({ objectType: object_type ?? '', event, snapshot: true })),
  )
}
