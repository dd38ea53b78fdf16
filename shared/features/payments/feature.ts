import type { Feature } from '#shared/core/automation/feature.ts'
import { sealedCredentials } from '#shared/features/payments/connections/store.ts'
import { paymentsDue } from '#shared/features/payments/due.ts'
import { paymentEvents } from '#shared/features/payments/events/event-types.ts'
import {
  cancelLinkJob,
  createLinkJob,
  deliverSandboxEventJob,
  endConnectionJob,
  expireLinkJob,
  handleEventJob,
  refreshLinkJob,
  sweepConnectionJob,
  testPaymentConnectionJob,
} from '#shared/features/payments/jobs.ts'
import { paymentMetrics } from '#shared/features/payments/metrics.ts'

export const feature = {
  jobs: {
    createLink: createLinkJob,
    cancelLink: cancelLinkJob,
    refreshLink: refreshLinkJob,
    expireLink: expireLinkJob,
    testConnection: testPaymentConnectionJob,
    sweepConnection: sweepConnectionJob,
    endConnection: endConnectionJob,
    handleEvent: handleEventJob,
    deliverSandboxEvent: deliverSandboxEventJob,
  },
  dueKinds: paymentsDue,
  events: [paymentEvents],
  metrics: paymentMetrics,
  sealed: [sealedCredentials],
} satisfies Feature
