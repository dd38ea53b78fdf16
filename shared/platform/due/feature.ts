import { deferredJobKinds, requeueDeferredJob } from '#shared/platform/due/defer-job.ts'
import { runMaintenanceJob } from '#shared/platform/due/maintenance.ts'

export const feature = { jobs: { requeueDeferred: requeueDeferredJob, runMaintenance: runMaintenanceJob }, dueKinds: deferredJobKinds }
