import type { Feature } from '#shared/core/automation/feature.ts'
import { sendDeliveriesJob } from '#shared/features/webhooks/jobs.ts'
import { webhookMaintenance } from '#shared/features/webhooks/maintenance.ts'
import { webhookMetrics } from '#shared/features/webhooks/metrics.ts'
import { sealedPreviousSecrets, sealedSecrets } from '#shared/features/webhooks/store.ts'

export const feature = {
  jobs: { sendDeliveries: sendDeliveriesJob },
  maintenance: webhookMaintenance,
  metrics: webhookMetrics,
  sealed: [sealedSecrets, sealedPreviousSecrets],
} satisfies Feature
