import { runMaintenanceJob } from '#shared/platform/due/maintenance.ts'
import { recordMaintenanceRun } from '#shared/platform/due/store.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { defineJobHandler } from '#workers/platform/jobs/handler.ts'

/** Characters of a failure that are kept. */
const maxErrorLength = 500

/** Runs a maintenance task and keeps how it ended. A failure is logged, and the task runs again at its next due time. */
export const createMaintenanceHandler = <S extends JobScope>(tasks: readonly MaintenanceTask<S>[]) =>
  defineJobHandler<{ task: string }, null, S>(runMaintenanceJob, async ({ payload, scope, signal }) => {
    const task = tasks.find(({ name }) => name === payload.task)
    if (!task) return { result: null }
    const [beganAt, began] = [scope.now(), performance.now()]
    let failure: string | null = null
    await task.run(scope, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      failure = String((error as Error)?.message ?? error).slice(0, maxErrorLength)
      if (!countRefusal(error)) scope.log.error({ err: error, task: payload.task }, 'maintenance task failed')
    })
    const ms = Math.round(performance.now() - began)
    await scope.db.query(recordMaintenanceRun({ task: task.name, beganAt, ms, error: failure }))
    return { result: null }
  })
