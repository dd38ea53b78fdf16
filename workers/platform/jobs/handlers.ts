import type { feature } from '#shared/platform/jobs/feature.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { createActHandler } from '#workers/platform/jobs/act-on-jobs.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const createHandlers = (jobs: readonly AnyJob[]) => ({ actOnJobs: createActHandler(jobs) }) satisfies HandlersOf<typeof feature.jobs>
