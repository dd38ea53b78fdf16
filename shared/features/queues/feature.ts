import type { Feature } from '#shared/core/automation/feature.ts'
import { intakeSubscriber } from '#shared/features/queues/definitions/queues.ts'
import { clearQueue, intakeRecordChanges, pressButton, runOnEnter, verifyQueue } from '#shared/features/queues/jobs.ts'
import { queueMetrics } from '#shared/features/queues/metrics.ts'
import { queueMethods } from '#shared/features/queues/sdk.ts'

export const feature = {
  jobs: { runOnEnter, intakeRecordChanges, pressButton, verifyQueue, clearQueue },
  subscriptions: { [intakeSubscriber]: { job: intakeRecordChanges, continues: true, snapshots: true } },
  sdkMethods: queueMethods,
  metrics: queueMetrics,
} satisfies Feature
