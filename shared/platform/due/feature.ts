import { deferredJobKinds, requeueDeferred } from '#shared/platform/due/defer-job.ts'
import { runMaintenance } from '#shared/platform/due/maintenance.ts'

export const feature = { jobs: { requeueDeferred, runMaintenance }, dueKinds: deferredJobKinds }
