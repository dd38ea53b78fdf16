import type { Feature } from '#shared/core/automation/feature.ts'
import { flowEvents } from '#shared/features/flows/events.ts'
import {
  callOutJob,
  continueRunJob,
  flowScheduleDue,
  flowWaitDue,
  generateFlowJob,
  rehearseFlowJob,
  startRunsOnEventsJob,
  startScheduledRunJob,
} from '#shared/features/flows/jobs.ts'
import { flowMaintenance } from '#shared/features/flows/maintenance.ts'
import { flowMetrics } from '#shared/features/flows/metrics.ts'
import { flowMethods } from '#shared/features/flows/sdk.ts'
import { flowSubscriber } from '#shared/features/flows/triggers/subscribe.ts'

export const feature = {
  jobs: {
    startRunsOnEvents: startRunsOnEventsJob,
    startScheduledRun: startScheduledRunJob,
    continueRun: continueRunJob,
    callOut: callOutJob,
    rehearseFlow: rehearseFlowJob,
    generateFlow: generateFlowJob,
  },
  dueKinds: [flowScheduleDue, flowWaitDue],
  maintenance: flowMaintenance,
  subscriptions: { [flowSubscriber]: { job: startRunsOnEventsJob, continues: true, snapshots: true } },
  events: [flowEvents],
  sdkMethods: flowMethods,
  metrics: flowMetrics,
} satisfies Feature
