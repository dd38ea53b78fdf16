import type { feature } from '#shared/platform/due/feature.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { createRequeueHandler } from '#workers/platform/due/requeue-deferred.ts'
import { createMaintenanceHandler } from '#workers/platform/due/run-maintenance.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const createHandlers = <S extends JobScope>(jobs: readonly AnyJob[], maintenance: readonly MaintenanceTask<S>[]) =>
  ({
    requeueDeferred: createRequeueHandler(jobs),
    runMaintenance: createMaintenanceHandler(maintenance),
  }) satisfies HandlersOf<typeof feature.jobs>
