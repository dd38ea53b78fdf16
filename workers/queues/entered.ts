import { runFlow } from '#shared/flows/start.ts'
import { runFunction } from '#shared/functions/jobs.ts'
import { maxDepth } from '#shared/kernel/cause.ts'
import { Problem } from '#shared/kernel/errors.ts'
import { itemsByIds } from '#shared/queues/find.ts'
import { enteredStage } from '#shared/queues/jobs.ts'
import { requireQueue } from '#shared/queues/load.ts'
import { nameOf } from '#shared/queues/queue.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { handler } from '#workers/handler.ts'

/** What runs is filed together with the end of this job, so each item's entry sets it off once. */
export default handler(enteredStage, async ({ payload: { queueId, entries }, scope, jobId, commit }) => {
  const queue = await requireQueue(scope, queueId)
  const items = await itemsByIds(
    scope,
    queue,
    entries.map(({ itemId }) => itemId),
  )
  const { workspace, cause } = scope
  return commit(async (inside) => {
    for (const { itemId, from, to } of entries) {
      const onEnter = queue.stages.find(({ key }) => key === to)?.on_enter
      const item = items.get(itemId)
      if (!onEnter || !item) continue
      const input = { queue: nameOf(queue), item, from_stage: from, to_stage: to }
      if (onEnter.function_id !== undefined && workspace.apps.functions && cause.depth < maxDepth) {
        const origin = { workspaceId: workspace.id, cause: { ...cause, depth: cause.depth + 1 } }
        const order = { functionId: onEnter.function_id, input: JSON.stringify(input), rights: 'lesser' } as const
        await scope.queue.enqueue(inside.db, runFunction, origin, order)
      }
      // As its own last editor, and whoever put it there could start it; a flow counts the steps of a chain itself.
      if (onEnter.flow_id !== undefined) await started(inside, onEnter.flow_id, input, `${jobId} ${itemId}`)
    }
    return { result: null }
  })
})

/** Starts a flow, unless it is gone. */
async function started(scope: Scope, flowId: string, input: unknown, naturalKey: string): Promise<void> {
  try {
    await runFlow(scope, flowId, input, { naturalKey })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'NOT_FOUND') throw error
  }
}
