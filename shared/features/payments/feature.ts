import type { Feature } from '#shared/core/automation/feature.ts'
import { paymentsDue } from '#shared/features/payments/due.ts'
import {
  cancelLink,
  createLink,
  deliverSandboxEvent,
  endConnection,
  expireLink,
  handleEvent,
  refreshLink,
  sweepConnection,
  testPaymentConnection,
} from '#shared/features/payments/jobs.ts'
import { paymentMetrics } from '#shared/features/payments/metrics.ts'

export const feature = {
  jobs: {
    createLink,
    cancelLink,
    refreshLink,
    expireLink,
    testConnection: testPaymentConnection,
    sweepConnection,
    endConnection,
    handleEvent,
    deliverSandboxEvent,
  },
  dueKinds: paymentsDue,
  metrics: paymentMetrics,
} satisfies Feature
