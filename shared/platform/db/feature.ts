import { databaseMaintenance } from '#shared/platform/db/maintenance.ts'
import { restoredMetrics } from '#shared/platform/db/restored/metrics.ts'

export const feature = { maintenance: databaseMaintenance, metrics: restoredMetrics }
