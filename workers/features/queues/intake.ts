import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { takeChanges } from '#shared/features/queues/intake/intake.ts'
import { takeIn } from '#shared/features/queues/jobs.ts'
import { enterAs, orRefusal } from '#workers/core/workspaces/enter-workspace.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

/** Each queue takes in as its last editor; one whose editor has left, may read too little, or that is gone rests. */
export default platformHandler(takeIn, async ({ payload, scope }) => {
  for (const queueId of payload.listenerIds) {
    const { refusal } = await orRefusal(() => takeInto(scope, payload.workspaceId, queueId, payload))
    if (refusal) scope.log.info({ queueId, refusal: refusal.message }, 'intake rests')
  }
  return { result: null }
})

async function takeInto(
  platform: PlatformScope,
  workspaceId: string,
  queueId: string,
  heard: Parameters<typeof takeChanges>[2],
): Promise<void> {
  const queue = await requireQueue({ ...platform, workspace: { id: workspaceId } }, queueId)
  if (queue.editor_id === null) return
  await takeChanges(await enterAs(platform, workspaceId, queue.editor_id), queue, heard)
}
