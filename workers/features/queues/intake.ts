import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { applyRecordChanges } from '#shared/features/queues/intake/intake.ts'
import { intakeRecordChangesJob } from '#shared/features/queues/jobs.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { catchRefusal, enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'

/**
 * Applies record changes to each listening queue, with the rights of the queue's last editor. A queue is skipped when that editor has left
 * or lacks rights, or when the queue is deleted.
 */
export default definePlatformHandler(intakeRecordChangesJob, async ({ payload, scope }) => {
  for (const queueId of payload.listenerIds) {
    const { refusal } = await catchRefusal(() => applyToQueue(scope, payload.workspaceId, queueId, payload))
    if (refusal) scope.log.info({ queueId, refusal: refusal.message }, 'intake skips a queue')
  }
  return { result: null }
})

async function applyToQueue(
  platform: PlatformScope,
  workspaceId: string,
  queueId: string,
  delivery: Parameters<typeof applyRecordChanges>[2],
): Promise<void> {
  const queue = await requireQueue({ ...platform, workspace: { id: workspaceId } }, queueId)
  if (queue.editor_id === null) return
  await applyRecordChanges(await enterAsPrincipal(platform, workspaceId, queue.editor_id), queue, delivery)
}
