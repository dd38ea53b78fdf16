import type { Feature } from '#shared/core/automation/feature.ts'
import { intakeSubscriber } from '#shared/features/queues/definitions/queues.ts'
import { itemEvents } from '#shared/features/queues/events/event-types.ts'
import { clearQueueJob, intakeRecordChangesJob, pressButtonJob, runOnEnterJob, verifyQueueJob } from '#shared/features/queues/jobs.ts'
import { queueMetrics } from '#shared/features/queues/metrics.ts'
import { queueMethods } from '#shared/features/queues/sdk.ts'

export const feature = {
  jobs: {
    runOnEnter: runOnEnterJob,
    intakeRecordChanges: intakeRecordChangesJob,
    pressButton: pressButtonJob,
    verifyQueue: verifyQueueJob,
    clearQueue: clearQueueJob,
  },
  subscriptions: { [intakeSubscriber]: { job: intakeRecordChangesJob, continues: true, snapshots: true } },
  sdkMethods: queueMethods,
  events: [itemEvents],
  metrics: queueMetrics,
} satisfies Feature
