import { takeChanges } from '#shared/queues/intake.ts'
import { takeIn } from '#shared/queues/jobs.ts'
import { requireQueue } from '#shared/queues/load.ts'
import { subscriber } from '#shared/queues/queues.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import { enterAs, orRefusal } from '#workers/enter.ts'
import { subscriberHandler } from '#workers/events/subscriber.ts'

/** Each queue takes in as its last editor; one whose editor has left, may read too little, or that is gone rests. */
export default subscriberHandler(subscriber, takeIn, async (scope, heard) => {
  for (const queueId of heard.listenerIds) {
    const { refusal } = await orRefusal(() => takeInto(scope, heard.workspaceId, queueId, heard))
    if (refusal) scope.log.info({ queueId, refusal: refusal.message }, 'intake rests')
  }
})

async function takeInto(
  platform: PlatformScope,
  workspaceId: string,
  queueId: string,
  heard: Parameters<typeof takeChanges>[2],
): Promise<void> {
  const queue = await requireQueue({ ...platform, workspace: { id: workspaceId } }, queueId)
  if (queue.editor_id === null) return
  const scope = await enterAs(platform, workspaceId, queue.editor_id)
  if (scope.workspace.apps.queues) await takeChanges(scope, queue, heard)
}
