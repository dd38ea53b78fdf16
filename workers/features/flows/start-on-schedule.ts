import type { Definition } from '#shared/features/flows/definitions/definition.ts'
import { scheduleRun, schedulesDue } from '#shared/features/flows/jobs.ts'
import { startRuns } from '#shared/features/flows/runs/start.ts'
import { findPresent, findVersion, lockFlow } from '#shared/features/flows/store.ts'
import { nextFire } from '#shared/features/flows/triggers/cron.ts'
import { triggerOf } from '#shared/features/flows/triggers/subscribe.ts'
import { setDueUnlessSet } from '#shared/platform/due/due-times.ts'
import { instantOf } from '#shared/platform/kernel/time/instant.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

interface PresentFlow {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly editor_id: string
}

/**
 * Makes the run of an instant that was due, and sets the next one after now, so that those between were made good by this one. The flow is
 * kept as it is meanwhile: who changes its schedule sets its time, too.
 */
export default platformHandler(scheduleRun, async ({ payload: { workspaceId, flowId, at }, scope }) => {
  await scope.db.transaction(async (tx) => {
    await tx.query(lockFlow(workspaceId, flowId))
    const [flow] = await tx.query<PresentFlow>(findPresent(workspaceId, [flowId]))
    const [definition] = flow ? await tx.query<Definition>(findVersion(workspaceId, flowId, flow.version)) : []
    const trigger = definition && triggerOf(definition)
    if (!flow || trigger?.type !== 'trigger.schedule') return
    const cron = trigger.config.cron as string
    const due = new Date(at)
    const next = nextFire(cron, scope.now())
    if (next) await setDueUnlessSet(tx, schedulesDue, workspaceId, [{ subject: flowId, at: next }])
    // Due by a schedule that it had before: that instant is nobody's any more.
    if (nextFire(cron, new Date(due.getTime() - 1))?.getTime() !== due.getTime()) return
    const event = instantOf(due)
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
