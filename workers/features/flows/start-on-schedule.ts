import { flowScheduleDue, startScheduledRunJob } from '#shared/features/flows/jobs.ts'
import { startRuns } from '#shared/features/flows/runs/start.ts'
import { findEnabledFlows, findVersion, lockFlow } from '#shared/features/flows/store.ts'
import { nextScheduledTime, scheduleOf } from '#shared/features/flows/triggers/cron.ts'
import { triggerOf } from '#shared/features/flows/triggers/subscribe.ts'
import { setDueIfUnset } from '#shared/platform/due/due-times.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

/**
 * Creates the run of a due instant and sets the first due time after now: this one run stands for all instants that were missed. The flow
 * is locked meanwhile, because a change of the flow's schedule sets the due time, too.
 */
export default definePlatformHandler(startScheduledRunJob, async ({ payload: { workspaceId, flowId, at }, scope }) => {
  await scope.db.transaction(async (tx) => {
    await tx.query(lockFlow({ workspaceId, id: flowId }))
    const [flow] = await tx.query(findEnabledFlows({ workspaceId, ids: [flowId] }))
    const [definition] = flow ? await tx.query(findVersion({ workspaceId, flowId, version: flow.version })) : []
    const trigger = definition && triggerOf(definition)
    if (!flow || trigger?.type !== 'trigger.schedule') return
    const schedule = scheduleOf(trigger.config)
    const due = new Date(at)
    const next = nextScheduledTime(schedule, scope.now())
    if (next) await setDueIfUnset(tx, flowScheduleDue, workspaceId, [{ subject: flowId, at: next }])
    // No run is created when the instant belongs to an earlier schedule of the flow.
    if (nextScheduledTime(schedule, new Date(due.getTime() - 1))?.getTime() !== due.getTime()) return
    const event = toInstant(due)
    const heading = { kind: 'schedule', event, object_type: null, record_id: null }
    const run = {
      flow,
      trigger: heading,
      input: { event },
      key: `schedule ${event}`,
      depth: 1,
      isPersonal: true,
      requestId: scope.cause.requestId,
    }
    await startRuns({ ...scope, db: tx }, workspaceId, [run])
  })
  return { result: null }
})
