import type { Scope } from '#shared/core/scope/scope.ts'
import { type ManualStart, runFlowForEach } from '#shared/features/flows/runs/start.ts'
import { runFunctionJob } from '#shared/features/functions/jobs.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { type Queue, queueNameOf } from '#shared/features/queues/definitions/schemas.ts'
import { findAnyItemViews } from '#shared/features/queues/items/find.ts'
import { runOnEnterJob } from '#shared/features/queues/jobs.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { dispositionOf } from '#shared/platform/kernel/background.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { automationCause, automationScope } from '#workers/features/queues/automation-scope.ts'

/**
 * Starts the functions and flows in the transaction that completes this job, so each entry of an item starts one run even if the job is
 * repeated. The number of statements does not depend on the number of items.
 */
export default defineHandler(runOnEnterJob, async ({ payload: { queueId, entries }, scope, jobId, commit }) => {
  const queue = await requireQueue(scope, queueId)
  const items = await findAnyItemViews(
    scope,
    queue,
    entries.map(({ itemId }) => itemId),
  )
  return commit(async (txScope) => {
    for (const [to, entriesOfStage] of Map.groupBy(entries, (entry) => entry.to)) {
      const { function_id, flow_id } = queue.stages.find(({ key }) => key === to)?.on_enter ?? {}
      const started = entriesOfStage.flatMap(({ itemId, from }): ManualStart[] => {
        const item = items.get(itemId)
        if (!item) return []
        return [
          {
            input: { queue: queueNameOf(queue), item, from_stage: from, to_stage: to },
            deduplicationKey: `${jobId} ${itemId}`,
            item: { queue_id: queue.id, item_id: itemId },
          },
        ]
      })
      if (started.length === 0) continue
      if (function_id !== undefined) await runFunctionForEach(txScope, queue, function_id, started)
      /**
       * The flow runs with its last editor's rights; the person who named it in the stage was permitted to start it.
       * `runFlowForEach` checks the length of the chain itself.
       */
      if (flow_id !== undefined) await ignoreMissing(() => runFlowForEach(automationScope(txScope, queue), flow_id, started))
    }
    return { result: null }
  })
})

async function runFunctionForEach(scope: Scope, queue: Queue, functionId: string, started: readonly ManualStart[]): Promise<void> {
  const { db, jobQueue, workspace, cause } = scope
  if (dispositionOf(runFunctionJob, workspace) === 'refused' || cause.depth >= maxCauseDepth) return
  const origin = { workspaceId: workspace.id, cause: automationCause(scope, queue) }
  const requests = started.map(({ input }) => {
    return { id: newId(), origin, payload: { functionId, input: JSON.stringify(input), rights: 'lesser' as const } }
  })
  await enqueueAll(jobQueue, db, runFunctionJob, requests)
}

/** Calls `start`, ignoring NOT_FOUND of a deleted flow. */
async function ignoreMissing(start: () => Promise<unknown>): Promise<void> {
  try {
    await start()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'NOT_FOUND') throw error
  }
}
