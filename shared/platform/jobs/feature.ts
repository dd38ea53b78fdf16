import { keptAnswers } from '#shared/platform/jobs/idempotency-records.ts'
import { jobMaintenance } from '#shared/platform/jobs/maintenance.ts'
import { jobMetrics } from '#shared/platform/jobs/metrics.ts'

export const feature = { maintenance: jobMaintenance, metrics: jobMetrics, sealed: [keptAnswers] }
