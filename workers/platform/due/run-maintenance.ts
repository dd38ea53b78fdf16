import { runMaintenanceJob } from '#shared/platform/due/maintenance.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'
import { defineJobHandler } from '#workers/platform/jobs/handler.ts'

/** Runs a maintenance task. A failure is logged, and the task runs again at its next due time. */
export const createMaintenanceHandler = <S extends JobScope>(tasks: readonly MaintenanceTask<S>[]) =>
  defineJobHandler<{ task: string }, null, S>(runMaintenanceJob, async ({ payload, scope, signal }) => {
    const task = tasks.find(({ name }) => name === payload.task)
    await task?.run(scope, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      if (!countRefusal(error)) scope.log.error({ err: error, task: payload.task }, 'maintenance task failed')
    })
    return { result: null }
  })
