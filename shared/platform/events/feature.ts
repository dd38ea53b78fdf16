import { eventMaintenance } from '#shared/platform/events/maintenance.ts'
import { eventMetrics } from '#shared/platform/events/metrics.ts'

export const feature = { maintenance: eventMaintenance, metrics: eventMetrics }
