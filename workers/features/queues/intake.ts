import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { applyRecordChanges } from '#shared/features/queues/intake/intake.ts'
import { intakeRecordChanges } from '#shared/features/queues/jobs.ts'
import { catchRefusal, enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

/** Each queue takes in as its last editor; one whose editor has left, may read too little, or that is gone rests. */
export default definePlatformHandler(intakeRecordChanges, async ({ payload, scope }) => {
  for (const queueId of payload.listenerIds) {
    const { refusal } = await catchRefusal(() => takeInto(scope, payload.workspaceId, queueId, payload))
    if (refusal) scope.log.info({ queueId, refusal: refusal.message }, 'intake rests')
  }
  return { result: null }
})

async function takeInto(
  platform: PlatformScope,
  workspaceId: string,
  queueId: string,
  heard: Parameters<typeof applyRecordChanges>[2],
): Promise<void> {
  const queue = await requireQueue({ ...platform, workspace: { id: workspaceId } }, queueId)
  if (queue.editor_id === null) return
  await applyRecordChanges(await enterAsPrincipal(platform, workspaceId, queue.editor_id), queue, heard)
}
