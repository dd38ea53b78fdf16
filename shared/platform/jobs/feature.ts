import { keptAnswers } from '#shared/platform/jobs/idempotency-records.ts'
import { jobMaintenance } from '#shared/platform/jobs/maintenance.ts'
import { jobMetrics } from '#shared/platform/jobs/metrics.ts'
import { actOnJobsJob } from '#shared/platform/jobs/operator/jobs.ts'

export const feature = { jobs: { actOnJobs: actOnJobsJob }, maintenance: jobMaintenance, metrics: jobMetrics, sealed: [keptAnswers] }
