import type { feature } from '#shared/features/payments/feature.ts'
import {
  handleCancelLink as cancelLink,
  handleExpireLink as expireLink,
  handleRefreshLink as refreshLink,
} from '#workers/features/payments/change-link.ts'
import {
  handleEndConnection as endConnection,
  handleSweepConnection as sweepConnection,
  handleTestConnection as testConnection,
} from '#workers/features/payments/connections.ts'
import createLink from '#workers/features/payments/create-link.ts'
import { sendSandboxEvent as deliverSandboxEvent, handleProviderEvent as handleEvent } from '#workers/features/payments/events.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  createLink,
  cancelLink,
  refreshLink,
  expireLink,
  testConnection,
  sweepConnection,
  endConnection,
  handleEvent,
  deliverSandboxEvent,
} satisfies HandlersOf<typeof feature.jobs>
